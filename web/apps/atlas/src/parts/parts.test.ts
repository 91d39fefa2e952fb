import { expect, test } from 'vitest';

import type { CountryEntry } from '../api/countries.ts';
import { distance, radiusOfArea } from '../api/geo.ts';
import { loadTexts } from '../text/index.ts';
import { kindName } from './kind.ts';
import { matchCountries } from './matchCountries.ts';

const country = (id: string, name: string, german: string) =>
  ({ _id: id, name, translations: { de: german } }) as unknown as CountryEntry;
const countries = [
  country('GB', 'United Kingdom', 'Vereinigtes Königreich'),
  country('US', 'United States', 'Vereinigte Staaten'),
  country('DE', 'Germany', 'Deutschland'),
  country('CI', 'Ivory Coast', 'Elfenbeinküste'),
  country('ST', 'São Tomé and Príncipe', 'São Tomé und Príncipe'),
];
const match = (typed: string, language = 'en') =>
  matchCountries(countries, typed, language, new Intl.Collator(language).compare).map(({ _id }) => _id);

test('countries are found by their beginning, by a word, by their code', () => {
  expect(match('uni')).toEqual(['GB', 'US']);
  expect(match('coast')).toEqual(['CI']);
  expect(match('us')).toEqual(['US']);
  expect(match('sao to')).toEqual(['ST']);
  expect(match('principe')).toEqual(['ST']);
  expect(match('xyz')).toEqual([]);
  expect(match('  ')).toEqual([]);
});

test('countries are found in the language of the page and in English', () => {
  expect(match('deutsch', 'de')).toEqual(['DE']);
  expect(match('germ', 'de')).toEqual(['DE']);
  expect(match('deutsch', 'en')).toEqual([]);
});

test('distances', () => {
  const paris = { latitude: 48.85341, longitude: 2.3488 };
  const berlin = { latitude: 52.52437, longitude: 13.41053 };
  expect(distance(paris, berlin)).toBeCloseTo(878, -1);
  expect(distance(paris, paris)).toBe(0);
  expect(distance({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 180 })).toBeCloseTo(20015, 0);
  expect(radiusOfArea(551_695)).toBeCloseTo(3.77, 1);
});

test('a kind of place without a name of its own is a plain place', async () => {
  const en = await loadTexts('en');
  expect(kindName('PPLC', en)).toBe('Capital');
  expect(kindName('toString', en)).toBe('Town or village');
  expect(kindName('PPLZ', en)).toBe('Town or village');
});
