import { expect, test } from 'vitest';

import { choice, page, placesSearch, text, without } from './search.ts';

test.each([
  [{ q: 'saint' }, 'saint'],
  [{ q: 1992 }, '1992'],
  [{ q: '' }, undefined],
  [{ q: ['a'] }, undefined],
  [{ q: { a: 1 } }, undefined],
  [{ q: null }, undefined],
  [{}, undefined],
])('a text from %j', (raw, q) => {
  expect(text('q', raw)).toEqual({ q });
});

test('a text is cut to what a search can hold', () => {
  expect(text('q', { q: 'x'.repeat(5000) }).q).toHaveLength(200);
});

test('a word of a few', () => {
  expect(choice('sort', { sort: 'name' }, ['name'])).toEqual({ sort: 'name' });
  expect(choice('sort', { sort: 'evil' }, ['name'])).toEqual({ sort: undefined });
});

test.each([
  [2, 2],
  ['3', 3],
  [1, undefined],
  [0, undefined],
  [-3, undefined],
  [1.5, undefined],
  [1e9, undefined],
  ['x', undefined],
  [[2, 3], undefined],
])('page from %j', (raw, expected) => {
  expect(page({ page: raw })).toEqual({ page: expected });
});

test('a table of places', () => {
  expect(placesSearch({ q: '東京', sort: 'population', order: 'asc', page: '2', other: 1 })).toEqual({
    q: '東京',
    sort: 'population',
    order: 'asc',
    page: 2,
  });
  expect(placesSearch({ sort: 'best', order: 'up' })).toEqual({});
});

test('without', () => {
  expect(without({ a: 1, b: 2, c: 3 }, 'a', 'c')).toEqual({ b: 2 });
});
