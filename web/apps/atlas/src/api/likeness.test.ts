import { expect, test } from 'vitest';

import type { City } from './cities.ts';
import { fits, foundBy, inOrder, isCalled, lookAlikes, spellings } from './likeness.ts';

let ids = 0;
const city = (name: string, population: number, more: Partial<City> = {}) =>
  ({ _id: `${(ids += 1)}`, name, population, country: 'US', ...more }) as City;
const order = (typed: string, ...places: City[]) => inOrder(places, typed).map(({ name }) => name);

const newYork = city('New York City', 8_175_133, { names: ['New York', 'Нью-Йорк'] });

test('an umlaut is left out or written out', () => {
  expect(spellings('München')).toEqual(['munchen', 'muenchen']);
  expect(spellings('Mu\u0308nchen')).toEqual(['munchen', 'muenchen']);
  expect(spellings('Ålesund')).toEqual(['alesund', 'aalesund']);
  expect(spellings('Lisbon')).toEqual(['lisbon']);
  const place = city('München', 50);
  for (const typed of ['munchen', 'muenchen', 'München', 'MÜNCHEN']) expect(isCalled(place, typed), typed).toBe(true);
  expect(isCalled(place, 'munche')).toBe(false);
});

test('a place has all its names', () => {
  expect(isCalled(newYork, 'нью йорк')).toBe(true);
  expect(fits(newYork, 'york new')).toBe(true);
  expect(fits(newYork, 'нью york')).toBe(false);
  expect(fits(newYork, '')).toBe(false);
  expect(isCalled(city('Munich', 1, { names: ['Muenchen'] }), 'münchen')).toBe(true);
});

test('the name by which it was found is told where its own says nothing', () => {
  const tokyo = city('Tokyo', 8_336_599, { names: ['Tokio', 'Токио', '東京', '東京都'] });
  expect(foundBy(tokyo, 'tok')).toBeUndefined();
  expect(foundBy(tokyo, 'tokio')).toBe('Tokio');
  expect(foundBy(tokyo, '東京')).toBe('東京');
  expect(foundBy(tokyo, 'ток')).toBe('Токио');
  expect(foundBy(tokyo, 'kyoto')).toBeUndefined();
});

test('the name counts before size, and size among the rest', () => {
  const york = city('York', 153_717, { country: 'GB' });
  const small = city('York', 7754);
  expect(order('york', newYork, small, york)).toEqual(['York', 'New York City', 'York']);
  const paulo = city('São Paulo', 10_021_295, { names: ['San Paulo', 'Сан-Паулу'] });
  expect(order('san', paulo, city('San Antonio', 1_469_845), city('San', 24_811))).toEqual([
    'San',
    'San Antonio',
    'São Paulo',
  ]);
  const [stein, bei] = [city('Münchenstein', 11_644), city('Garching bei München', 15_303)];
  expect(order('munchen', stein, bei)).toEqual(['Garching bei München', 'Münchenstein']);
  expect(inOrder([newYork, small, york], 'york')[0]).toBe(york);
  const [par, paris] = [city('Par', 1400), city('Paris', 2_138_551)];
  expect(order('par', par, paris)).toEqual(['Paris', 'Par']);
  expect(order('paulo', city('Paulo Afonso', 86_000), city('São Paulo', 10_021_295))).toEqual([
    'São Paulo',
    'Paulo Afonso',
  ]);
});

test('what a name adds after a comma or in brackets need not be typed', () => {
  const [capital, town] = [city('Washington, D.C.', 601_723), city('Washington', 53_526, { country: 'GB' })];
  expect(order('washington', town, capital)).toEqual(['Washington, D.C.', 'Washington']);
  expect(order('halle', city('Halle', 35_000), city('Halle (Saale)', 234_107))).toEqual(['Halle (Saale)', 'Halle']);
  expect(isCalled(city('(Ulm)', 1), 'a')).toBe(false);
  expect(isCalled(capital, 'd c')).toBe(false);
});

test('a name with its region stands before what only holds the words', () => {
  const [texas, france] = [city('Paris', 25_000, { region: 'Texas' }), city('Texas City', 48_000)];
  expect(order('paris texas', france, texas)).toEqual(['Paris', 'Texas City']);
});

test('places that nothing but their position tells apart', () => {
  const places = [
    city('Springfield', 1, { region: 'Ohio' }),
    city('Springfield', 2, { region: 'Ohio' }),
    city('Springfield', 3, { region: 'Texas' }),
    city('Springfield', 4, { region: 'Ohio', country: 'CA' }),
    city('Springfield', 5),
    city('Springfield', 6),
  ];
  const alike = lookAlikes(places);
  expect(places.filter(({ _id }) => alike.has(_id)).map(({ population }) => population)).toEqual([1, 2, 5, 6]);
});
