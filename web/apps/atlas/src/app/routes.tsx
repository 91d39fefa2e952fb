/** Every address of the site on one page: what may stand in it, what is loaded for it, which page shows it. */
import { createRootRouteWithContext, createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router';

import { choice, countriesSearch, placesSearch, text } from '../address/search.ts';
import { cityQuery } from '../api/cities.ts';
import { countriesQuery, countryQuery } from '../api/countries.ts';
import type { Site } from '../api/site.ts';
import { Layout } from '../parts/Layout.tsx';
import { NotFound } from '../parts/NotFound.tsx';

export interface RouterContext extends Site {
  readonly language: string;
}

const root = createRootRouteWithContext<RouterContext>()({ component: Layout, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('../pages/Home.tsx'), 'Home'),
});

const countries = createRoute({
  getParentRoute: () => root,
  path: '/countries',
  validateSearch: countriesSearch,
  loader: ({ context: { queries, stoa, language } }) => queries.ensureQueryData(countriesQuery(stoa, language)),
  component: lazyRouteComponent(() => import('../pages/Countries.tsx'), 'Countries'),
});

const country = createRoute({
  getParentRoute: () => root,
  path: '/countries/$code',
  validateSearch: placesSearch,
  loader: async ({ context: { queries, stoa, language }, params: { code } }) => {
    const [found] = await Promise.all([
      queries.ensureQueryData(countryQuery(stoa, code)),
      queries.ensureQueryData(countriesQuery(stoa, language)),
    ]);
    if (found === null) throw notFound();
  },
  component: lazyRouteComponent(() => import('../pages/Country.tsx'), 'CountryPage'),
});

const places = createRoute({
  getParentRoute: () => root,
  path: '/places',
  validateSearch: placesSearch,
  loader: ({ context: { queries, stoa, language } }) => queries.ensureQueryData(countriesQuery(stoa, language)),
  component: lazyRouteComponent(() => import('../pages/Places.tsx'), 'Places'),
});

const city = createRoute({
  getParentRoute: () => root,
  path: '/places/$id',
  validateSearch: (search: Record<string, unknown>): { readonly visit?: 'new' | undefined } =>
    choice('visit', search, ['new']),
  loader: async ({ context: { queries, stoa, language }, params: { id } }) => {
    const [found] = await Promise.all([
      queries.ensureQueryData(cityQuery(stoa, id)),
      queries.ensureQueryData(countriesQuery(stoa, language)),
    ]);
    if (found === null) throw notFound();
  },
  component: lazyRouteComponent(() => import('../pages/City.tsx'), 'CityPage'),
});

const journal = createRoute({
  getParentRoute: () => root,
  path: '/journal',
  validateSearch: (search: Record<string, unknown>): { readonly edit?: string | undefined } => text('edit', search),
  loader: ({ context: { queries, stoa, language } }) => queries.ensureQueryData(countriesQuery(stoa, language)),
  component: lazyRouteComponent(() => import('../pages/Journal.tsx'), 'Journal'),
});

const signedIn = createRoute({
  getParentRoute: () => root,
  path: '/signed-in',
  component: lazyRouteComponent(() => import('../pages/SignedIn.tsx'), 'SignedIn'),
});

const about = createRoute({
  getParentRoute: () => root,
  path: '/about',
  component: lazyRouteComponent(() => import('../pages/About.tsx'), 'About'),
});

export const routeTree = root.addChildren([home, countries, country, places, city, journal, signedIn, about]);
