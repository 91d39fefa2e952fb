import { expect, test } from 'vitest';

import type { City } from './cities.ts';
import type { CountryEntry } from './countries.ts';
import { byRegion, bySize, together } from './figures.ts';

test('figures by digits become figures by size, all in one of them', () => {
  const results = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((digits) => ({ digits, places: 10 ** digits, people: digits }));
  expect(bySize(results)).toEqual([
    { from: 10_000_000, to: null, places: 1_100_000_000, people: 17 },
    { from: 1_000_000, to: 10_000_000, places: 10_000_000, people: 7 },
    { from: 100_000, to: 1_000_000, places: 1_000_000, people: 6 },
    { from: 10_000, to: 100_000, places: 100_000, people: 5 },
    { from: 1000, to: 10_000, places: 10_000, people: 4 },
    { from: 0, to: 1000, places: 1110, people: 6 },
  ]);
  expect(together(bySize(results))).toEqual(together(results));
  expect(bySize([{ digits: 4, places: 2, people: 3000 }])).toEqual([
    { from: 1000, to: 10_000, places: 2, people: 3000 },
  ]);
  expect(bySize([])).toEqual([]);
});

test('figures of countries become figures of regions', () => {
  const country = (_id: string, region: string) => ({ _id, region }) as CountryEntry;
  const city = (name: string, country: string) => ({ name, country }) as City;
  const group = (country: string, digits: number, places: number, people: number) => ({
    country,
    digits,
    places,
    people,
  });
  const groups = [
    group('FR', 5, 2, 20),
    group('FR', 2, 1, 10),
    group('DE', 5, 1, 12),
    group('JP', 6, 5, 50),
    group('XX', 6, 9, 99),
  ];
  const countries = [
    country('FR', 'Europe'),
    country('DE', 'Europe'),
    country('JP', 'Asia'),
    country('AQ', 'Antarctic'),
  ];
  const largest = [city('Tokyo', 'JP'), city('Berlin', 'DE'), city('Paris', 'FR')];
  const found = byRegion(['Europe', 'Asia', 'Antarctic'], countries, groups, largest);
  expect(found).toMatchObject([
    { region: 'Europe', countries: 2, places: 4, people: 42, largest: { name: 'Berlin' } },
    { region: 'Asia', countries: 1, places: 5, people: 50, largest: { name: 'Tokyo' } },
    { region: 'Antarctic', countries: 1, places: 0, people: 0, largest: null },
  ]);
});
