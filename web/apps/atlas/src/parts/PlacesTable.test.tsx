// @vitest-environment jsdom
import { cleanup, configure, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import type { PlacesSearch } from '../address/search.ts';
import { show } from '../test/show.tsx';
import { fakeSite, page } from '../test/site.ts';
import { PlacesTable } from './PlacesTable.tsx';

afterEach(cleanup);
// Machines of tests are slow now and then.
configure({ asyncUtilTimeout: 4000 });
vi.stubGlobal('scrollTo', () => undefined);

const ulm = { _id: '1', name: 'Ulm', country: 'DE', featureCode: 'PPL', population: 120_714 };

/** A site with one place, which a search finds only as something like the text if `isLike`. */
function siteOfUlm({ isCurrent = true, isLike = false } = {}) {
  return fakeSite(({ path, body }) => {
    if (path.endsWith('/lag')) return { isCurrent };
    const search = body['search'] as { search: { fuzzy: boolean }; paging: { offset?: number } };
    const isFound = (search.paging.offset ?? 0) === 0 && search.search.fuzzy === isLike;
    return page(isFound ? [ulm] : []);
  });
}
const open = (search: PlacesSearch, site = siteOfUlm()) => show(site, <PlacesTable search={search} countries={[]} />);

test('a page past the last one says so, counts nothing, and leads to the first', async () => {
  await open({ q: 'ulm', page: 900 });
  await screen.findByRole('heading', { name: 'This page is past the last one' });
  expect(screen.getByRole('link', { name: 'Go to the first page' }).getAttribute('href')).toBe('/places?q=ulm');
  expect(screen.queryByText(/\d places|is called/)).toBeNull();
  expect(screen.queryByRole('navigation')).toBeNull();
});

test('where only something like the text is found, what may be meant is a link', async () => {
  const site = (finds: boolean, isTold = true) =>
    fakeSite(({ path, body }) => {
      if (path.endsWith('/lag')) return { isCurrent: true };
      const { fuzzy, expression } = (body['search'] as { search: { fuzzy: boolean; expression: string } }).search;
      const suggestions = { expression: 'ulm', words: [] };
      if (body['returnSuggestions'] === true) return { ...page([]), ...(isTold ? { suggestions } : {}) };
      return page((finds && fuzzy) || expression === 'ulm*' ? [ulm] : []);
    });
  await open({ q: 'uml', sort: 'name' }, site(true));
  const link = await screen.findByRole('link', { name: 'Did you mean “ulm”?' });
  expect(link.getAttribute('href')).toBe('/places?q=ulm&sort=name');
  cleanup();
  await open({ q: 'uml' }, site(false));
  await screen.findByRole('heading', { name: /uml/ });
  expect(screen.getByRole('link', { name: /Did you mean/ }).getAttribute('href')).toBe('/places?q=ulm');
  cleanup();
  await open({ q: 'uml' }, site(false, false));
  await screen.findByRole('heading', { name: /uml/ });
  expect(screen.queryByRole('link', { name: /Did you mean/ })).toBeNull();
});

test('while names are indexed, neither a number of places nor that there is none is told', async () => {
  await open({ q: 'qqqq' }, siteOfUlm({ isCurrent: false, isLike: true }));
  await screen.findByRole('link', { name: 'Ulm' });
  screen.getByText(/still being indexed/);
  expect(screen.queryByText(/\d places?$|is called/)).toBeNull();
});
