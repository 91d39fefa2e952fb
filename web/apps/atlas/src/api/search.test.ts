import { StoaError } from '@stoa/client';
import { QueryObserver } from '@tanstack/react-query';
import { describe, expect, test, vi } from 'vitest';

import { type Asked, fakeSite, page } from '../test/site.ts';
import { placesQuery } from './places.ts';
import { isSearched, openingQuery, wordsOf } from './search.ts';

interface Words {
  readonly expression: string;
  readonly fuzzy: boolean;
  readonly mode: string;
  readonly fields?: readonly string[];
}

const search = ({ body }: Asked) => body['search'] as { search: Words; sort: object[]; filter: object; paging: object };
const expressions = (asked: readonly Asked[]) =>
  asked.filter(({ path }) => path.endsWith('/search')).map((each) => search(each).search.expression);
const place = (_id: string, name: string, population: number) => ({ _id, name, population, country: 'US' });

test('signs that mean something to a search are none in what is typed', () => {
  expect(wordsOf('  new*  yor~k, c++ ')).toBe('new yor k c');
  expect(wordsOf("L'Aquila / Saint-Denis")).toBe("L'Aquila Saint Denis");
  expect(wordsOf('東京 москва ท่า')).toBe('東京 москва ท่า');
  expect(wordsOf('a '.repeat(40)).split(' ')).toHaveLength(16);
  expect([...wordsOf('𠀀'.repeat(200))]).toHaveLength(99);
  expect(wordsOf('*~ ,')).toBe('');
  for (const signs of ['*~ ,', '™', '㎏', 'Ⓐ']) expect(isSearched(signs), signs).toBe(false);
  expect(isSearched('東')).toBe(true);
});

test('the best and the most populous are asked for at once', async () => {
  const york = place('1', 'York', 7754);
  const { stoa, queries, asked } = fakeSite((each) =>
    search(each).sort.length > 0
      ? page([place('2', 'New York City', 8_000_000)])
      : page([york, place('3', 'York Haven', 709)]),
  );
  const found = await queries.fetchQuery(openingQuery(stoa, { q: ' york ' }));
  expect(found).toMatchObject({ text: 'york', reading: 'names', called: ['1'], hasNext: false, isComplete: true });
  expect(found.items.map(({ name }) => name)).toEqual(['New York City', 'York']);
  expect(asked.map((each) => search(each))).toMatchObject([
    {
      search: { expression: 'york*', mode: 'AND', fuzzy: false, fields: ['name', 'names'] },
      sort: [{ fieldName: 'population', order: 'DESC' }],
      paging: { limit: 50, offset: 0 },
    },
    { search: { expression: 'york', mode: 'AND' }, sort: [], paging: { limit: 20, offset: 0 } },
  ]);
});

test('without a name, region and country count, and then errors are let pass', async () => {
  const { stoa, queries, asked } = fakeSite((each) => {
    if (each.path.endsWith('/lag')) return { isCurrent: true };
    return page(search(each).search.fuzzy ? [place('1', 'New York City', 8)] : []);
  });
  const found = await queries.fetchQuery(openingQuery(stoa, { q: 'new yrok', country: 'US' }));
  expect(found).toMatchObject({ reading: 'similar', items: [{ _id: '1' }], isComplete: true });
  expect(expressions(asked)).toEqual(['new yrok*', 'new yrok', 'new yrok*', 'new yrok', 'new yrok']);
  expect(found.meant).toBeUndefined();
  expect(search(asked[2] as Asked).search.fields).toContain('region');
  expect(search(asked[3] as Asked)).toMatchObject({ search: { fuzzy: true }, filter: { country: 'US' } });
});

test('what may be meant is told where it finds something', async () => {
  const meant = async (finds: boolean, suggestions: object | undefined) => {
    const { stoa, queries, asked } = fakeSite((each) => {
      if (each.path.endsWith('/lag')) return { isCurrent: true };
      if (each.body['returnSuggestions'] === true) return { ...page([]), suggestions };
      return page(finds && search(each).search.expression === 'new york*' ? [place('1', 'New York City', 8)] : []);
    });
    const found = await queries.fetchQuery(openingQuery(stoa, { q: 'new yrok', country: 'DE' }));
    return { meant: found.meant, last: asked.filter(({ path }) => path.endsWith('/search')).at(-1) };
  };
  const york = { expression: 'new york', words: [] };
  const found = await meant(true, york);
  expect(found.meant).toBe('new york');
  // Nothing is like it there, so it is looked for everywhere.
  expect(search(found.last as Asked)).toMatchObject({ filter: {}, paging: { limit: 1 } });
  expect((await meant(false, york)).meant).toBeUndefined();
  expect((await meant(true, { words: [] })).meant).toBeUndefined();
  expect((await meant(true, undefined)).meant).toBeUndefined();
});

test('what is found is shown though nobody says what may be meant', async () => {
  const like = place('1', 'New York City', 8);
  const { stoa, queries } = fakeSite((each) => {
    if (each.path.endsWith('/lag')) return { isCurrent: true };
    if (each.body['returnSuggestions'] === true) return 400;
    return page(search(each).search.fuzzy ? [like] : []);
  });
  const found = await queries.fetchQuery(openingQuery(stoa, { q: 'new yrok' }));
  expect(found).toMatchObject({ reading: 'similar', items: [like], isComplete: true });
  expect(found.meant).toBeUndefined();
});

describe('while the server goes through names', () => {
  const view = { q: 'york', sort: 'best', order: 'desc', page: 1 } as const;
  const yorks = place('1', 'Yorks', 5);
  /** `york` is found once the server is through; before that, what is like it. */
  function indexing() {
    const state = { isCurrent: false };
    const site = fakeSite(({ path, body }) => {
      if (path.endsWith('/lag')) return state;
      const { fuzzy } = (body['search'] as { search: Words }).search;
      return page(state.isCurrent ? [place('2', 'York', 7754)] : fuzzy ? [yorks] : []);
    });
    return { ...site, state, searches: () => site.asked.filter(({ path }) => path.endsWith('/search')).length };
  }

  test('neither nothing nor what is only like it is an answer', async () => {
    const { stoa, queries } = fakeSite(({ path }) => (path.endsWith('/lag') ? { isCurrent: false } : page([])));
    expect(await queries.fetchQuery(openingQuery(stoa, { q: 'qq' }))).toMatchObject({ items: [], isComplete: false });
    const other = indexing();
    expect(await other.queries.fetchQuery(openingQuery(other.stoa, view))).toMatchObject({
      items: [yorks],
      reading: 'similar',
      isComplete: false,
    });
  });

  test('it is asked whether it is through, and then the table has what there is', async () => {
    const { stoa, queries, state, searches } = indexing();
    const table = () => queries.fetchQuery({ ...placesQuery(stoa, view), staleTime: 0 });
    await queries.fetchQuery(openingQuery(stoa, view));
    const before = searches();
    expect(await table()).toMatchObject({ items: [yorks], isComplete: false });
    expect(await table()).toMatchObject({ items: [yorks], isComplete: false });
    expect(searches()).toBe(before);
    state.isCurrent = true;
    expect(await table()).toMatchObject({ items: [{ name: 'York' }], isComplete: true });
  });

  test('where it is never through, what is found is the answer in the end', async () => {
    const { stoa, queries } = indexing();
    const ask = () => queries.fetchQuery({ ...openingQuery(stoa, view), staleTime: 0 });
    for (let tries = 0; tries < 30; tries += 1) expect(await ask()).toMatchObject({ isComplete: false });
    expect(await ask()).toMatchObject({ items: [yorks], reading: 'similar', isComplete: true });
  });
});

test('a table has its rows though the search box leaves the text meanwhile', async () => {
  let answer: () => void = () => undefined;
  const held = new Promise<void>((done) => (answer = done));
  const { stoa, queries } = fakeSite(async () => {
    await held;
    return page([place('1', 'York', 7754)]);
  });
  const leave = new QueryObserver(queries, openingQuery(stoa, { q: 'york' })).subscribe(() => undefined);
  const table = new QueryObserver(queries, placesQuery(stoa, { q: 'york', sort: 'best', order: 'desc', page: 1 }));
  const stop = table.subscribe(() => undefined);
  await Promise.resolve();
  leave();
  answer();
  await vi.waitFor(() => expect(table.getCurrentResult().data?.items).toHaveLength(1));
  stop();
});

test('a site whose data have no other names is searched by name, and refuses once', async () => {
  const { stoa, queries, asked } = fakeSite(() => page([place('1', 'Ulm', 5)]));
  const ask = stoa.items.findWords.bind(stoa.items);
  let refused = 0;
  stoa.items.findWords = async (request, options) => {
    if (request.search.search.fields?.join() === 'name') return ask(request, options);
    refused += 1;
    const details = { applicationError: { code: 'WDE0147', description: 'names' } };
    throw new StoaError('names', { code: 'WDE0147', status: 400, details });
  };
  expect(await queries.fetchQuery(openingQuery(stoa, { q: 'ulm' }))).toMatchObject({ items: [{ name: 'Ulm' }] });
  // Two searches had begun together.
  expect(refused).toBe(2);
  await queries.fetchQuery(openingQuery(stoa, { q: 'ulme' }));
  expect(refused).toBe(2);
  expect(asked).toHaveLength(4);
});

test('later pages begin where the first ended, and leave out what stood there', async () => {
  const many = Array.from({ length: 50 }, (_, n) => place(`${n}`, `San ${n}`, 1000 - n));
  const called = [place('x', 'San', 1), place('y', 'San', 2)];
  const { stoa, queries, asked } = fakeSite((each) => (search(each).sort.length > 0 ? page(many, true) : page(called)));
  const view = { q: 'san', sort: 'best', order: 'desc', page: 1 } as const;
  const first = await queries.fetchQuery(placesQuery(stoa, view));
  expect(first).toMatchObject({ total: null, hasNext: true });
  expect(first.items).toHaveLength(50);
  await queries.fetchQuery(placesQuery(stoa, { ...view, page: 3 }));
  expect(search(asked.at(-1) as Asked)).toMatchObject({
    filter: { $and: [{}, { $not: [{ _id: { $in: ['x', 'y'] } }] }] },
    paging: { limit: 50, offset: 98 },
  });
  await queries.fetchQuery(placesQuery(stoa, { ...view, sort: 'name', order: 'asc', page: 2 }));
  expect(search(asked.at(-1) as Asked)).toMatchObject({
    filter: {},
    sort: [{ fieldName: 'searchName', order: 'ASC' }],
    paging: { limit: 50, offset: 50 },
  });
  expect(asked).toHaveLength(4);
});

test('the last page says how many there are', async () => {
  const { stoa, queries } = fakeSite(() => page([place('1', 'Ulm', 1), place('2', 'Ulmen', 2)]));
  const view = { q: 'ulm', sort: 'best', order: 'desc', page: 1 } as const;
  expect(await queries.fetchQuery(placesQuery(stoa, view))).toMatchObject({ total: 2, hasNext: false });
});

test.each([
  ['after what is found', [place('1', 'Ulm', 1)], null],
  ['of nothing', [], 0],
])('a page %s is empty and counts nothing', async (_, items, total) => {
  const { stoa, queries } = fakeSite(({ path, body }) => {
    if (path.endsWith('/lag')) return { isCurrent: true };
    const { offset = 0 } = (body['search'] as { paging: { offset?: number } }).paging;
    return page(offset > 0 ? [] : items);
  });
  const view = { q: 'ulm', sort: 'best', order: 'desc', page: 900 } as const;
  const found = await queries.fetchQuery(placesQuery(stoa, view));
  expect(found).toMatchObject({ items: [], total, hasNext: false, isComplete: true });
});
