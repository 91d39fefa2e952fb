/**
 * Reading the query of an address: what does not fit counts as absent, so that no link can break a page. Absent members
 * are named and undefined, because the router would keep what it read for members that are not named.
 */

type Raw = Readonly<Record<string, unknown>>;
type Found<Name extends string, Value> = { readonly [Key in Name]: Value | undefined };

/** A text that is not empty. Numbers arrive parsed and are texts again. */
export function text<Name extends string>(name: Name, raw: Raw): Found<Name, string> {
  const value = raw[name];
  const found = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  return { [name]: found === '' ? undefined : found.slice(0, 200) } as Found<Name, string>;
}

/** One of a few words. */
export function choice<Name extends string, const Value extends string>(
  name: Name,
  raw: Raw,
  values: readonly Value[],
): Found<Name, Value> {
  const found = values.find((value) => value === raw[name]);
  return { [name]: found } as Found<Name, Value>;
}

/** A page from 2 on; the first one is not named. */
export function page(raw: Raw): Found<'page', number> {
  const value = Number(raw['page']);
  return Number.isSafeInteger(value) && value > 1 && value <= 100_000 ? { page: value } : { page: undefined };
}

export interface CountriesSearch {
  readonly region?: string | undefined;
  readonly q?: string | undefined;
  readonly sort?: 'area' | 'capital' | undefined;
  readonly order?: 'desc' | undefined;
}

export const countriesSearch = (raw: Raw): CountriesSearch => ({
  ...text('region', raw),
  ...text('q', raw),
  ...choice('sort', raw, ['area', 'capital']),
  ...choice('order', raw, ['desc']),
});

/** A table of places: without an order the most populous first, or what fits a text best. */
export interface PlacesSearch {
  readonly q?: string | undefined;
  readonly sort?: 'name' | 'population' | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  readonly page?: number | undefined;
}

export const placesSearch = (raw: Raw): PlacesSearch => ({
  ...text('q', raw),
  ...choice('sort', raw, ['name', 'population']),
  ...choice('order', raw, ['asc', 'desc']),
  ...page(raw),
});

/** The search without these members; the way to write "not set" into an address. */
export function without<Search extends object, Name extends keyof Search>(
  search: Search,
  ...names: Name[]
): Omit<Search, Name> {
  const rest = Object.entries(search).filter(([name]) => !names.some((each) => each === name));
  return Object.fromEntries(rest) as Omit<Search, Name>;
}
