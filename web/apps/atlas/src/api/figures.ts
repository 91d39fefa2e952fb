/** Figures over all places, worked out by pipelines of the server. */
import type { Client, Stage } from '@stoa/client';
import { queryOptions } from '@tanstack/react-query';

import type { City } from './cities.ts';
import type { CountryEntry } from './countries.ts';

/** What is gathered of some places. */
export interface Figures {
  readonly places: number;
  /** Sum of the known populations. */
  readonly people: number;
}

/** The people of a part of a town are those of the town. */
const wholeTowns: Stage = { filter: { featureCode: { $ne: 'PPLX' } } };

/** The figures of the places of a country whose population has so many digits. */
export interface Group extends Figures {
  readonly country: string;
  readonly digits: number;
}

const grouped: Stage = {
  group: {
    groupIds: [
      { key: 'country', expression: { fieldPath: 'country' } },
      {
        key: 'digits',
        expression: { length: { expression: { stringify: { expression: { fieldPath: 'population' } } } } },
      },
    ],
    accumulators: [
      { resultFieldName: 'places', sum: { expression: { numeric: 1 } } },
      { resultFieldName: 'people', sum: { expression: { fieldPath: 'population' } } },
    ],
  },
};

/** The figures of all countries that have places, or of one: all tables are made of these. */
export const figuresQuery = (stoa: Client, country: string | null) =>
  queryOptions({
    queryKey: ['figures', country],
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<readonly Group[]> => {
      const stages = country === null ? [wholeTowns, grouped] : [{ filter: { country } }, wholeTowns, grouped];
      const results = await stoa.items.pipeline<Figures & { _id: Pick<Group, 'country' | 'digits'> }>(
        'cities',
        stages,
        {
          signal,
        },
      );
      return results.map(({ _id, places, people }) => ({ ..._id, places, people }));
    },
  });

/** Places of a size: at least `from`, less than `to`. */
export interface SizeFigures extends Figures {
  /** 0 for all that are smaller than the others, or of unknown size. */
  readonly from: number;
  /** The least size that is larger; null for the largest. */
  readonly to: number | null;
}

const steps = [10_000_000, 1_000_000, 100_000, 10_000, 1000, 0];

/** The largest places first; no size without places. */
export function bySize(groups: readonly Pick<Group, 'digits' | 'places' | 'people'>[]): SizeFigures[] {
  const digitsOf = (size: number) => String(size).length;
  const sizes = steps.map((from, index) => {
    const to = steps[index - 1] ?? null;
    const fits = ({ digits }: { readonly digits: number }) =>
      (from === 0 || digits >= digitsOf(from)) && (to === null || digits < digitsOf(to));
    return { from, to, ...together(groups.filter(fits)) };
  });
  return sizes.filter(({ places }) => places > 0);
}

export function together(figures: Iterable<Figures>): Figures {
  let [places, people] = [0, 0];
  for (const each of figures) {
    places += each.places;
    people += each.people;
  }
  return { places, people };
}

/** The figures of a region of the world. */
export interface RegionFigures extends Figures {
  readonly region: string;
  readonly countries: number;
  readonly largest: City | null;
}

/** @param largest the most populous places of the world, the largest first */
export function byRegion(
  regions: readonly string[],
  countries: readonly CountryEntry[],
  groups: readonly Group[],
  largest: readonly City[],
): RegionFigures[] {
  return regions.map((region) => {
    const own = new Set(countries.filter((country) => country.region === region).map(({ _id }) => _id));
    return {
      region,
      countries: own.size,
      largest: largest.find(({ country }) => own.has(country)) ?? null,
      ...together(groups.filter(({ country }) => own.has(country))),
    };
  });
}
