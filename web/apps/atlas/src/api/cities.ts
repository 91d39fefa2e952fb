import type { Client, System } from '@stoa/client';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { distance } from './geo.ts';

/** An item of `cities`. */
export interface City extends System {
  readonly name: string;
  /** What the most important cities are called in other languages. */
  readonly names?: readonly string[];
  /** `name` as `fold` writes it. */
  readonly searchName: string;
  /** Id of an item of `countries`. */
  readonly country: string;
  /** Name of the first-level division. */
  readonly region?: string;
  readonly adminCode: string;
  readonly featureCode: string;
  /** 0 when it is not known. */
  readonly population: number;
  readonly longitude: number;
  readonly latitude: number;
}

/** Around a place: what counts as near, in degrees of latitude. */
const nearDegrees = 0.6;

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
