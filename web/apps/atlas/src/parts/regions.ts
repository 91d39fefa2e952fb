import type { CountryEntry } from '../api/countries.ts';

/** The regions of the source, in the order in which they are shown. */
export const regionNames = ['Africa', 'Americas', 'Asia', 'Europe', 'Oceania', 'Antarctic'] as const;

export type Region = (typeof regionNames)[number];

/** How many countries lie in each region. */
export function regionsOf(countries: readonly CountryEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { region } of countries) counts.set(region, (counts.get(region) ?? 0) + 1);
  return counts;
}

export function isRegion(name: string): name is Region {
  return regionNames.some((region) => region === name);
}
