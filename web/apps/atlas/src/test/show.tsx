/** Shows a part of the site with everything that parts work with, for tests in jsdom. */
import { QueryClientProvider } from '@tanstack/react-query';
import {
  Outlet,
  RouterProvider,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
} from '@tanstack/react-router';
import { render } from '@testing-library/react';
import type { ReactElement } from 'react';

import { type Site, SiteContext } from '../api/site.ts';
import { loadTexts } from '../text/index.ts';
import { speech } from '../text/speech.ts';
import { SpeechContext } from '../text/useText.ts';

const paths = ['/', '/places', '/places/$id', '/countries/$code'];

/** The part stands on every page; its text is English. */
export async function show(site: Site, part: ReactElement) {
  const root = createRootRoute({
    component: () => (
      <>
        {part}
        <Outlet />
      </>
    ),
  });
  const routes = paths.map((path) => createRoute({ getParentRoute: () => root, path, component: () => null }));
  const router = createRouter({ routeTree: root.addChildren(routes), history: createMemoryHistory() });
  const spoken = { ...speech('en', await loadTexts('en')), setLanguage: () => undefined };
  render(
    <SpeechContext value={spoken}>
      <SiteContext value={site}>
        <QueryClientProvider client={site.queries}>
          <RouterProvider router={router as never} />
        </QueryClientProvider>
      </SiteContext>
    </SpeechContext>,
  );
  return router;
}
