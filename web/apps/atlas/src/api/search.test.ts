import { expect, test } from 'vitest';

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
  expect(isSearched('*~ ,')).toBe(false);
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
      search: { expression: 'york*', mode: 'AND', fuzzy: false, fields: ['name', 'altName', 'names'] },
      sort: [{ fieldName: 'population', order: 'DESC' }],
      paging: { limit: 50, offset: 0 },
    },
    { search: { expression: 'york', mode: 'AND' }, sort: [], paging: { limit: 20, offset: 0 } },
  ]);
});

test('without a name, region and country count, and then errors are let pass', async () => {
  const { stoa, queries, asked } = fakeSite((each) =>
    page(search(each).search.fuzzy ? [place('1', 'New York City', 8)] : []),
  );
  const found = await queries.fetchQuery(openingQuery(stoa, { q: 'new yrok', country: 'US' }));
  expect(found).toMatchObject({ reading: 'similar', items: [{ _id: '1' }] });
  expect(expressions(asked)).toEqual(['new yrok*', 'new yrok', 'new yrok*', 'new yrok']);
  expect(search(asked[2] as Asked).search.fields).toContain('region');
  expect(search(asked[3] as Asked)).toMatchObject({ search: { fuzzy: true }, filter: { country: 'US' } });
});

test('where nothing is found, it is told whether the index has everything', async () => {
  const { stoa, queries } = fakeSite(({ path }) => (path.endsWith('/lag') ? { isCurrent: false } : page([])));
  expect(await queries.fetchQuery(openingQuery(stoa, { q: 'qq' }))).toMatchObject({ items: [], isComplete: false });
});

test('a site whose data have no other names is searched all the same', async () => {
  const refusal = { details: { applicationError: { code: 'WDE0147', description: 'names' } } };
  const site = fakeSite((each) => page(search(each).search.fields === undefined ? [place('1', 'Ulm', 5)] : []));
  const { stoa } = site;
  const ask = stoa.items.findWords.bind(stoa.items);
  stoa.items.findWords = async (request, options) => {
    if (request.search.search.fields === undefined) return ask(request, options);
    const { StoaError } = await import('@stoa/client');
    throw new StoaError('names', { code: 'WDE0147', status: 400, details: refusal.details });
  };
  expect(await site.queries.fetchQuery(openingQuery(stoa, { q: 'ulm' }))).toMatchObject({ items: [{ name: 'Ulm' }] });
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
