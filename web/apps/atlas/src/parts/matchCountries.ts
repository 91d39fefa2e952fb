import { type CountryEntry, countryName } from '../api/countries.ts';
import { fold } from '../text/fold.ts';

/** The countries whose name, in the page's language or English, begins so or has a word that does; or whose code it is. */
export function matchCountries(
  countries: readonly CountryEntry[],
  typed: string,
  language: string,
  compare: (a: string, b: string) => number,
): CountryEntry[] {
  const text = fold(typed);
  if (text === '') return [];
  const ranked: [number, CountryEntry][] = [];
  for (const country of countries) {
    const names = [fold(countryName(country, language)), fold(country.name)];
    const rank = names.some((name) => name.startsWith(text))
      ? 0
      : country._id.toLowerCase() === text
        ? 1
        : names.some((name) => name.includes(` ${text}`))
          ? 2
          : null;
    if (rank !== null) ranked.push([rank, country]);
  }
  return ranked
    .sort(([a, left], [b, right]) => a - b || compare(countryName(left, language), countryName(right, language)))
    .map(([, country]) => country);
}
