// @vitest-environment jsdom
import {
  Outlet,
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';

import { Link } from './Link.tsx';

afterEach(cleanup);
// jsdom does not scroll.
vi.stubGlobal('scrollTo', () => undefined);

/** Two pages that link to each other. */
async function open() {
  const root = createRootRoute({ component: Outlet });
  const pages = ['/', '/about'].map((path) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: () => (
        <>
          <h1>{path}</h1>
          <Link to="/about" variant="name" className="own">
            About
          </Link>
        </>
      ),
    }),
  );
  const router = createRouter({ routeTree: root.addChildren(pages), history: createMemoryHistory() });
  render(<RouterProvider router={router as never} />);
  await screen.findByRole('heading', { name: '/' });
  return { link: screen.getByRole('link', { name: 'About' }), router };
}

test('a link has its address and the look of the kit', async () => {
  const { link } = await open();
  expect(link.getAttribute('href')).toBe('/about');
  expect(link.className).toBe('stoa-link own');
  expect(link.dataset['variant']).toBe('name');
});

test.each([
  ['a click', (link: HTMLElement) => userEvent.click(link)],
  [
    'Enter',
    async (link: HTMLElement) => {
      link.focus();
      await userEvent.keyboard('{Enter}');
    },
  ],
])('a link navigates in the router after %s, and knows that it is current', async (_, act) => {
  const { link, router } = await open();
  const loads: boolean[] = [];
  document.addEventListener('click', (event) => loads.push(!event.defaultPrevented), { once: true });
  await act(link);
  await screen.findByRole('heading', { name: '/about' });
  expect(router.state.location.pathname).toBe('/about');
  expect(loads).toEqual([false]);
  expect(screen.getByRole('link').getAttribute('aria-current')).toBe('page');
});

test('a link leaves a click with a modifier to the browser', async () => {
  const { link, router } = await open();
  expect(fireEvent.click(link, { ctrlKey: true })).toBe(true);
  expect(router.state.location.pathname).toBe('/');
});
