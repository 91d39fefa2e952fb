import type { Client, System } from '@stoa/client';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { fold } from '../text/fold.ts';
import { distance } from './geo.ts';

/** An item of `cities`. */
export interface City extends System {
  readonly name: string;
  readonly altName?: string;
  /** `name` as `fold` writes it. */
  readonly searchName: string;
  /** Id of an item of `countries`. */
  readonly country: string;
  readonly adminCode: string;
  readonly featureCode: string;
  /** 0 when it is not known. */
  readonly population: number;
  readonly longitude: number;
  readonly latitude: number;
}

/** How a table of places is asked for; all of it stands in the address. */
export interface PlacesView {
  readonly country?: string | undefined;
  readonly q: string;
  readonly sort: 'population' | 'name';
  readonly order: 'asc' | 'desc';
  /** From 1. */
  readonly page: number;
}

export const placesPerPage = 50;
const suggestions = 8;
/** Around a place: what counts as near, in degrees of latitude. */
const nearDegrees = 0.6;

export const placesQuery = (stoa: Client, view: PlacesView) =>
  queryOptions({
    queryKey: ['places', view] as const,
    // The page before stays while another page or order of the same places is on its way.
    placeholderData: <Data>(last: Data | undefined, query?: { readonly queryKey: readonly [string, PlacesView] }) => {
      const before = query?.queryKey[1];
      return before?.q === view.q && before.country === view.country ? last : undefined;
    },
    queryFn: ({ signal }) => {
      let query = stoa.items.query<City>('cities');
      if (view.country !== undefined) query = query.eq('country', view.country);
      const prefix = fold(view.q);
      if (prefix !== '') query = query.startsWith('searchName', prefix);
      const field = view.sort === 'name' ? 'searchName' : 'population';
      query = view.order === 'asc' ? query.ascending(field) : query.descending(field);
      return query
        .ascending('_id')
        .skip((view.page - 1) * placesPerPage)
        .limit(placesPerPage)
        .find({ returnTotalCount: true, signal });
    },
  });

/** Whether a word of the place's name begins with what was typed, which is what `suggestQuery` finds. */
export const isSuggested = (city: City, typed: string): boolean => ` ${city.searchName}`.includes(` ${fold(typed)}`);

/**
 * The most populous places whose name begins so; after them, those of which a later word does. Until the answer is
 * there, `data` is the last one, for another text.
 */
export const suggestQuery = (stoa: Client, typed: string) =>
  queryOptions({
    queryKey: ['suggest', fold(typed)],
    enabled: fold(typed) !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const text = fold(typed);
      const begin = await stoa.items
        .query<City>('cities')
        .startsWith('searchName', text)
        .descending('population')
        .limit(suggestions)
        .find({ signal });
      if (begin.length >= suggestions || text.length < 3) return begin.items;
      const within = await stoa.items
        .query<City>('cities')
        .contains('searchName', ` ${text}`)
        .descending('population')
        .limit(suggestions)
        .find({ signal });
      const known = new Set(begin.items.map(({ _id }) => _id));
      return [...begin.items, ...within.items.filter(({ _id }) => !known.has(_id))].slice(0, suggestions);
    },
  });

export const cityQuery = (stoa: Client, id: string) =>
  queryOptions({
    queryKey: ['city', id],
    queryFn: ({ signal }) => stoa.items.get<City>('cities', id, { signal }),
  });

/** Places by their ids. */
export const citiesByIdQuery = (stoa: Client, ids: readonly string[]) =>
  queryOptions({
    queryKey: ['cities', ids],
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const page = await stoa.items.query<City>('cities').in('_id', ids).limit(1000).find({ signal });
      return new Map(page.items.map((city) => [city._id, city]));
    },
  });

/** The most populous places of the world, or of a country, for tables and maps. */
export const largestQuery = (stoa: Client, country: string | null, limit: number) =>
  queryOptions({
    queryKey: ['largest', country, limit],
    queryFn: async ({ signal }) => {
      const all = stoa.items.query<City>('cities');
      const page = await (country === null ? all : all.eq('country', country))
        .descending('population')
        .fields('name', 'country', 'population', 'longitude', 'latitude', 'featureCode')
        .limit(limit)
        .find({ signal });
      return page.items;
    },
  });

/** The most populous places around a place, nearest first. */
export const nearbyQuery = (stoa: Client, city: City) =>
  queryOptions({
    queryKey: ['nearby', city._id],
    queryFn: async ({ signal }) => {
      const { latitude, longitude } = city;
      const across = nearDegrees / Math.max(0.2, Math.cos((latitude * Math.PI) / 180));
      const page = await stoa.items
        .query<City>('cities')
        .between('latitude', latitude - nearDegrees, latitude + nearDegrees)
        .between('longitude', longitude - across, longitude + across)
        .ne('_id', city._id)
        .descending('population')
        .limit(8)
        .find({ signal });
      return page.items.map((each) => ({ city: each, km: distance(city, each) })).sort((a, b) => a.km - b.km);
    },
  });

export const countsQuery = (stoa: Client) =>
  queryOptions({
    queryKey: ['counts'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const [places, countries] = await Promise.all([
        stoa.items.query('cities').count({ signal }),
        stoa.items.query('countries').count({ signal }),
      ]);
      return { places, countries };
    },
  });
