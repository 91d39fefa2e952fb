import type { Client, System } from '@stoa/client';
import { queryOptions } from '@tanstack/react-query';

/** An item of `countries` in lists: enough to name, place and sort it. */
export interface CountryEntry extends System {
  readonly name: string;
  readonly capital: readonly string[];
  readonly region: string;
  readonly subregion: string;
  readonly area: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly flag: string;
  /** Name by language tag; lists carry the page's language only. */
  readonly translations?: Readonly<Record<string, string>>;
}

/** An item of `countries`. The id is the ISO 3166-1 two-letter code. */
export interface Country extends CountryEntry {
  readonly officialName: string;
  readonly languages: readonly string[];
  readonly languageCodes: readonly string[];
  readonly currencies: readonly string[];
  readonly borders: readonly string[];
  readonly landlocked: boolean;
  readonly callingCode?: string;
  readonly domains: readonly string[];
}

/** All countries; there are 250, so every page that names one shares this list. */
export const countriesQuery = (stoa: Client, language: string) =>
  queryOptions({
    queryKey: ['countries', language],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const page = await stoa.items
        .query<CountryEntry>('countries')
        .ascending('name')
        .fields(
          'name',
          'capital',
          'region',
          'subregion',
          'area',
          'latitude',
          'longitude',
          'flag',
          `translations.${language}`,
        )
        .limit(1000)
        .find({ signal });
      return page.items;
    },
  });

/** One country with all its facts; null when there is none. */
export const countryQuery = (stoa: Client, code: string) =>
  queryOptions({
    queryKey: ['country', code],
    queryFn: ({ signal }) => stoa.items.get<Country>('countries', code, { signal }),
  });

/** The country's name in the page's language: the data's own translation, else the browser's, else English. */
export function countryName(country: Pick<CountryEntry, '_id' | 'name' | 'translations'>, language: string): string {
  if (language === 'en') return country.name;
  return country.translations?.[language] ?? browserName(country._id, language) ?? country.name;
}

const browserNames = new Map<string, Intl.DisplayNames>();

function browserName(code: string, language: string): string | undefined {
  let known = browserNames.get(language);
  if (known === undefined) {
    known = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
    browserNames.set(language, known);
  }
  try {
    return known.of(code);
  } catch {
    return undefined; // not a code of a region
  }
}
