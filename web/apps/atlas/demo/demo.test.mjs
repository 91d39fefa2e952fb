// The data against its own description: what the server imports must fit the collections it goes into.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { fold as siteFold } from '../src/text/fold.ts';
import { collections } from './collections.mjs';
import { fold } from './fold.mjs';
import { distinct, otherNames, zonesOf } from './names.mjs';
import { folderOf, readCities, readCountries } from './source.mjs';

const countries = readCountries();
const cities = readCities(countries);

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
      names: expect.arrayContaining(['Schweiz', 'Suisse', 'Svizzera', 'スイス']),
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

  test('those after which time zones are called have names in other languages', () => {
    const called = (name) => cities.filter(({ names = [] }) => names.includes(name)).map((it) => [it.name, it.country]);
    expect(called('東京')).toEqual([['Tokyo', 'JP']]);
    expect(called('Москва')).toEqual([['Moscow', 'RU']]);
    expect(called('New York')).toEqual([['New York City', 'US']]);
    expect(called('München')).toEqual([['Munich', 'DE']]);
    expect(called('Calcutta')).toEqual([['Kolkata', 'IN']]);
    expect(called('Sydney')).toEqual([]);
    expect(called('سيدني')).toEqual([['Sydney', 'AU']]);
    expect(called('Калькутта')).toEqual([['Kolkata', 'IN']]);
    const named = cities.filter(({ names }) => names !== undefined);
    expect(named.length).toBeGreaterThan(250);
    for (const { name, names } of named) expect(distinct(names, [name]), name).toEqual(names);
  });

  test('a name in another language is one of the city, without words of the language beside it', () => {
    const names = cities.flatMap((city) => city.names ?? []);
    expect(names.filter((name) => /^(ìlú|i-)/i.test(name))).toEqual([]);
    expect(names.filter((name) => /^\p{Lu}{2}(,|$)/u.test(name))).toEqual([]);
    // Atikokan is far from Coral Harbour, and Saint-Pierre is not on Miquelon.
    const elsewhere = ['Coral Harbour', 'Корал-Харбор', 'كورال هاربر', 'Miquelon', 'Микелон', '密克隆'];
    expect(names.filter((name) => elsewhere.includes(name))).toEqual([]);
  });

  test('the licence of the names is published with them', () => {
    const text = readFileSync(new URL('../public/unicode-license.txt', import.meta.url), 'utf8');
    expect(text).toBe(readFileSync(join(folderOf('cldr-dates-full'), 'LICENSE'), 'utf8'));
  });

  test('most have the name of their region', () => {
    expect(cities.filter(({ region }) => region !== undefined).length).toBeGreaterThan(0.97 * cities.length);
    const region = (name, country) => cities.find((it) => it.name === name && it.country === country)?.region;
    expect(region('Austin', 'US')).toBe('Texas');
    expect(region('Zürich', 'CH')).toBe('Zurich');
  });
});

describe('names in other languages', () => {
  const city = (cityId, name, country, population, more = {}) => ({
    cityId,
    name,
    country,
    population,
    featureCode: 'PPL',
    ...more,
  });
  const zones = zonesOf({
    keyword: {
      u: {
        tz: {
          _description: 'Time zones',
          arush: { _alias: 'America/Argentina/San_Juan' },
          prsju: { _alias: 'America/San_Juan' },
          ancur: { _alias: 'America/Curacao' },
          usknx: { _alias: 'America/Indiana/Knox America/Knox_IN' },
        },
      },
    },
  });
  const spanish = new Map([['ru', 'Сан-Хуан']]);
  const names = new Map([
    ['America/San_Juan', spanish],
    [
      'America/Curacao',
      new Map([
        ['en', 'Curaçao'],
        ['ru', 'Кюрасао'],
      ]),
    ],
    [
      'America/Indiana/Knox',
      new Map([
        ['en', 'Knox, Indiana'],
        ['ru', 'Нокс'],
      ]),
    ],
  ]);

  test('are given to the largest place of the zone’s country with its name', () => {
    const cities = [
      city(1, 'San Juan', 'AR', 900),
      city(2, 'San Juan', 'PR', 100),
      city(3, 'San Juan', 'PR', 300),
      city(4, 'San Juan', 'PR', 400, { featureCode: 'PPLX' }),
      city(5, 'Curaçao', 'NL', 5),
      city(6, 'Knox', 'US', 5),
    ];
    expect([...otherNames(cities, zones, names)]).toEqual([['3', ['Сан-Хуан']]]);
    expect(zones.map(({ country }) => country)).toEqual(['AR', 'PR', 'CW', 'US']);
  });

  test('are distinct to those who search', () => {
    expect(distinct(['Tokió', 'Tokio', 'TOKYO', 'टोक्यो', 'टोकियो', ''], ['Tokyo', ''])).toEqual([
      'Tokió',
      'टोक्यो',
      'टोकियो',
    ]);
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
