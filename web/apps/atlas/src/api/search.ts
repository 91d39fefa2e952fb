/** Finding places and countries by what a person types, with `items.search` (docs/search.md). */
import { type Client, type Page, type Search, StoaError } from '@stoa/client';
import { type QueryClient, keepPreviousData, queryOptions } from '@tanstack/react-query';

import { fold } from '../text/fold.ts';
import type { City } from './cities.ts';
import { inOrder, isCalled } from './likeness.ts';
import { freshMs } from './site.ts';

/**
 * How a text had to be read for something to be found: as names, as names with region or country beside them, or as names
 * with errors of typing.
 */
export type Reading = 'names' | 'surroundings' | 'similar';

/** What is searched for, and in which country if in one alone. */
export interface SearchText {
  readonly q: string;
  readonly country?: string | undefined;
}

/** The first page of what is found, the best first. */
export interface Opening {
  /** What was typed, for which this is the answer. */
  readonly text: string;
  readonly items: readonly City[];
  readonly hasNext: boolean;
  readonly reading: Reading;
  /** What may be meant where nothing is called so, and finds something. */
  readonly meant?: string | undefined;
  /** The ids of those that are called exactly so: they stand on this page, whatever their size. */
  readonly called: readonly string[];
  /** False when nothing is called so and the server has not yet gone through all names. */
  readonly isComplete: boolean;
  /** How often the server has said since that it has not. */
  readonly tries: number;
}

export const placesPerPage = 50;

const nameFields = ['name', 'names'];
const readings = ['names', 'surroundings', 'similar'] as const;
const shown = ['name', 'names', 'country', 'region', 'featureCode', 'population', 'latitude', 'longitude'];
/** Places that are called exactly so, beyond which size alone decides. */
const mostCalled = 20;
const mostCountries = 2;
/** Bounds of an expression (docs/search.md), less the sign at its end. */
const mostCharacters = 99;
const mostWords = 16;
/** How soon it is tried again while the server still goes through names; milliseconds. */
export const retryMs = 2000;
/** Where others write all the time the server is never through: after so many tries, what it finds is the answer. */
const mostTries = 30;

/** Whether there is something to search for. */
export const isSearched = (typed: string): boolean => fold(typed) !== '' && wordsOf(typed) !== '';

/** The words of a text, without the signs that mean something in an expression. */
export function wordsOf(typed: string): string {
  const words = typed.match(/[\p{L}\p{N}\p{M}'’‘ʻʼ]+/gu) ?? [];
  return [...words.slice(0, mostWords).join(' ')].slice(0, mostCharacters).join('').trim();
}

/** Until the answer is there, `data` is the last one, for another text. */
export const openingQuery = (stoa: Client, { q, country }: SearchText) =>
  queryOptions<Opening>({
    queryKey: ['opening', q.trim(), country],
    enabled: isSearched(q),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.isComplete === false ? retryMs : false),
    queryFn: ({ client, queryKey, signal }) =>
      openAgain(stoa, { q: q.trim(), country }, client.getQueryData<Opening>(queryKey), signal),
  });

/**
 * The first page for a table, from the cache or asked for. A query that a search box observes is not waited for: it is
 * cancelled when the box goes on to another text.
 */
export async function findOpening(
  stoa: Client,
  { q, country }: SearchText,
  queries: QueryClient,
  signal: AbortSignal,
): Promise<Opening> {
  const { queryKey } = openingQuery(stoa, { q, country });
  const known = queries.getQueryCache().find<Opening>({ queryKey });
  const last = known?.isStaleByTime(freshMs) === false ? known.state.data : undefined;
  if (last?.isComplete === true) return last;
  const opening = await openAgain(stoa, { q: q.trim(), country }, last, signal);
  queries.setQueryData<Opening>(queryKey, opening);
  return opening;
}

/** Where the last answer was not complete, nothing is searched for until the server has gone through all names. */
async function openAgain(
  stoa: Client,
  text: SearchText,
  last: Opening | undefined,
  signal: AbortSignal,
): Promise<Opening> {
  if (last?.isComplete !== false) return open(stoa, text, signal);
  const tries = last.tries + 1;
  const isThrough = tries >= mostTries || (await stoa.items.searchIsCurrent({ signal }));
  return isThrough ? { ...(await open(stoa, text, signal)), isComplete: true } : { ...last, tries };
}

/** Tries the readings one after another until one finds something. */
async function open(stoa: Client, text: SearchText, signal: AbortSignal): Promise<Opening> {
  const answer = { text: text.q, hasNext: false, reading: readings[0], called: [], isComplete: true, tries: 0 };
  const largest = (reading: Reading) =>
    searchPlaces(stoa, text, reading, (search) =>
      search.descending('population').limit(placesPerPage).find({ signal }),
    );
  const [first, called] = await Promise.all([largest('names'), calledExactly(stoa, text, signal)]);
  if (first.length > 0) {
    const ids = called.map(({ _id }) => _id);
    const others = first.items.filter(({ _id }) => !ids.includes(_id));
    const room = placesPerPage - called.length;
    const items = inOrder([...called, ...others.slice(0, room)], text.q);
    return { ...answer, items, hasNext: first.hasNext || others.length > room, called: ids };
  }
  const others = await readOtherwise(largest);
  const items = inOrder(others.items, text.q);
  const isMeant = others.reading !== 'surroundings';
  const meant = isMeant ? await findMeantIfAny(stoa, text, items.length > 0, signal) : undefined;
  return { ...answer, ...others, items, meant, isComplete: await stoa.items.searchIsCurrent({ signal }) };
}

/** It is only a hint: where it can't be had, what was found is still the answer. */
async function findMeantIfAny(
  stoa: Client,
  text: SearchText,
  isFoundThere: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await findMeant(stoa, text, isFoundThere, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}

/** Other words for what was typed, if they find something: in the same country where something like it was found there. */
async function findMeant(
  stoa: Client,
  { q, country }: SearchText,
  isFoundThere: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { suggestions } = await within(stoa, 'cities', nameFields, (fields) =>
    stoa.items
      .search<City>('cities', wordsOf(q), { suggest: true, ...fields })
      .fields('name')
      .limit(1)
      .find({ signal }),
  );
  const meant = suggestions?.expression;
  if (meant === undefined) return undefined;
  const text = { q: meant, country: isFoundThere ? country : undefined };
  const found = await searchPlaces(stoa, text, 'names', (search) => search.limit(1).find({ signal }));
  return found.items.length > 0 ? meant : undefined;
}

async function readOtherwise(find: (reading: Reading) => Promise<Page<City>>) {
  for (const reading of readings.slice(1)) {
    const { items, hasNext } = await find(reading);
    if (items.length > 0) return { items, hasNext, reading };
  }
  return { items: [] };
}

/** Those that are called exactly so: small ones would not be among the most populous that hold the words. */
async function calledExactly(stoa: Client, text: SearchText, signal: AbortSignal): Promise<readonly City[]> {
  const best = await within(stoa, 'cities', nameFields, (fields) =>
    restricted(stoa.items.search<City>('cities', wordsOf(text.q), { all: true, ...fields }), text)
      .limit(mostCalled)
      .find({ signal }),
  );
  return best.items.filter((city) => isCalled(city, text.q));
}

/** What one reading of the text finds; `refine` says in which order, from where, and asks. */
export function searchPlaces(
  stoa: Client,
  text: SearchText,
  reading: Reading,
  refine: (search: Search<City>) => Promise<Page<City>>,
): Promise<Page<City>> {
  // All words must be there. The last one may be the beginning of one, as it may not be typed out yet.
  const fuzzy = reading === 'similar';
  const expression = fuzzy ? wordsOf(text.q) : `${wordsOf(text.q)}*`;
  const searched = reading === 'surroundings' ? [...nameFields, 'region', 'countryName'] : nameFields;
  return within(stoa, 'cities', searched, (fields) =>
    refine(restricted(stoa.items.search<City>('cities', expression, { all: true, fuzzy, ...fields }), text)),
  );
}

function restricted(search: Search<City>, { country }: SearchText): Search<City> {
  const fields = search.fields(...shown);
  return country === undefined ? fields : fields.eq('country', country);
}

/** The collections that turned out to be made before they had all fields; for as long as the page is open. */
const withNameAlone = new WeakMap<Client, Set<string>>();

/** Searches in these fields; in the name alone on a site whose data were made before it had these. */
async function within<Found>(
  stoa: Client,
  collection: string,
  fields: readonly string[],
  search: (words: { readonly within: readonly string[] }) => Promise<Found>,
): Promise<Found> {
  const refused = withNameAlone.get(stoa) ?? new Set();
  if (!refused.has(collection)) {
    try {
      return await search({ within: fields });
    } catch (error) {
      if (!(error instanceof StoaError) || error.code !== 'WDE0147') throw error;
      withNameAlone.set(stoa, refused.add(collection));
    }
  }
  return search({ within: ['name'] });
}

/** Ids of the countries of which a name, in whatever language, begins so. */
export const countriesFoundQuery = (stoa: Client, typed: string) =>
  queryOptions({
    queryKey: ['countriesFound', typed.trim()],
    enabled: isSearched(typed),
    queryFn: async ({ signal }) => {
      const page = await within(stoa, 'countries', ['name', 'names'], (fields) =>
        stoa.items
          .search<{ name: string }>('countries', `${wordsOf(typed)}*`, { all: true, ...fields })
          .fields('name')
          .limit(mostCountries)
          .find({ signal }),
      );
      return page.items.map(({ _id }) => _id);
    },
  });
