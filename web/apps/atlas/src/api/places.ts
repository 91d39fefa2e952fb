/** A table of places: all of them in an order, or what a text finds. */
import { type Client, filter } from '@stoa/client';
import { type QueryClient, queryOptions } from '@tanstack/react-query';

import type { City } from './cities.ts';
import { type Reading, findOpening, isSearched, placesPerPage, retryMs, searchPlaces } from './search.ts';

/** How a table of places is asked for; all of it stands in the address. */
export interface PlacesView {
  readonly country?: string | undefined;
  readonly q: string;
  /** `best` is for a text alone: what is likely meant comes first. */
  readonly sort: 'best' | 'population' | 'name';
  readonly order: 'asc' | 'desc';
  /** From 1. */
  readonly page: number;
}

/** A page of the table. */
export interface Places {
  readonly items: readonly City[];
  /** How many there are in all; null where a search has more than it has counted, or fewer than stand before the page. */
  readonly total: number | null;
  readonly hasNext: boolean;
  readonly reading: Reading;
  /** What may be meant where nothing is called as the text says. */
  readonly meant?: string | undefined;
  /** False while the server still goes through names, and found none that is called so. */
  readonly isComplete: boolean;
}

export const placesQuery = (stoa: Client, view: PlacesView) =>
  queryOptions<Places, Error, Places, readonly [string, PlacesView]>({
    queryKey: ['places', view],
    // The page before stays while another page or order of the same places is on its way.
    placeholderData: (last, query) => {
      const before = query?.queryKey[1];
      return before?.q === view.q && before.country === view.country ? last : undefined;
    },
    refetchInterval: ({ state }) => (state.data?.isComplete === false ? retryMs : false),
    queryFn: ({ client, queryKey, signal }) =>
      isSearched(view.q)
        ? find(stoa, view, client, client.getQueryData<Places>(queryKey), signal)
        : list(stoa, view, signal),
  });

async function list(stoa: Client, view: PlacesView, signal: AbortSignal): Promise<Places> {
  const all = stoa.items.query<City>('cities');
  const some = view.country === undefined ? all : all.eq('country', view.country);
  const page = await (view.order === 'asc' ? some.ascending(fieldOf(view)) : some.descending(fieldOf(view)))
    .ascending('_id')
    .skip(before(view))
    .limit(placesPerPage)
    .find({ returnTotalCount: true, signal });
  const { items, hasNext, totalCount = null } = page;
  return { items, total: totalCount, hasNext, reading: 'names', isComplete: true };
}

async function find(
  stoa: Client,
  view: PlacesView,
  queries: QueryClient,
  last: Places | undefined,
  signal: AbortSignal,
): Promise<Places> {
  const opening = await findOpening(stoa, view, queries, signal);
  const { reading, meant, called, isComplete } = opening;
  if (!isComplete && last?.isComplete === false) return last;
  const isOpening = view.sort === 'best' && view.page === 1;
  const { items, hasNext } =
    isOpening || opening.items.length === 0
      ? opening
      : await searchPlaces(stoa, view, reading, (search) => {
          if (view.sort !== 'best') {
            const sorted = view.order === 'asc' ? search.ascending(fieldOf(view)) : search.descending(fieldOf(view));
            return sorted.skip(before(view)).limit(placesPerPage).find({ signal });
          }
          // Those that are called exactly so stood on the first page, and took the room of others there.
          const others = called.length === 0 ? search : search.not(filter().in('_id', called));
          const skipped = before(view) - called.length;
          return others.descending('population').skip(skipped).limit(placesPerPage).find({ signal });
        });
  const isPastEnd = items.length === 0 && opening.items.length > 0;
  const total = hasNext || isPastEnd ? null : items.length === 0 ? 0 : before(view) + items.length;
  return { items, total, hasNext, reading, meant, isComplete };
}

const fieldOf = ({ sort }: PlacesView) => (sort === 'name' ? 'searchName' : 'population');

const before = ({ page }: PlacesView) => (page - 1) * placesPerPage;
