import { expect, test } from 'vitest';

import { type Items, createClient, filter, memoryTokens } from '../src/index.ts';
import { type Handler, applicationError, serve } from './server.ts';

async function start(handler: Handler) {
  const server = await serve(handler);
  return { server, items: createClient({ baseUrl: server.url, clientId: 'c1', tokens: memoryTokens() }).items };
}

/** 70 items, by offset paging. */
const found: Handler = ({ path, body }) => {
  if (path !== '/v2/items/search') return undefined;
  const { paging } = body['search'] as { paging?: { limit?: number; offset?: number } };
  const [offset, limit] = [paging?.offset ?? 0, paging?.limit ?? 100];
  const dataItems = Array.from({ length: 70 }, (_, n) => ({ id: `${n}`, data: { _id: `${n}`, n } })).slice(
    offset,
    offset + limit,
  );
  return { body: { dataItems, pagingMetadata: { count: dataItems.length, offset, hasNext: offset + limit < 70 } } };
};

test('a search says its words, and all that a query can say', async () => {
  const { server, items } = await start(found);
  await items
    .search('cities', 'sao pau*', { all: true, within: ['name', 'names'] })
    .eq('country', 'BR')
    .not(filter().in('_id', ['1']))
    .descending('population')
    .fields('name')
    .limit(8)
    .skip(16)
    .find({ consistentRead: true });
  expect(server.to('/v2/items/search').map(({ method, body }) => [method, body])).toEqual([
    [
      'POST',
      {
        dataCollectionId: 'cities',
        search: {
          fields: ['name'],
          filter: { $and: [{ country: 'BR' }, { $not: [{ _id: { $in: ['1'] } }] }] },
          sort: [{ fieldName: 'population', order: 'DESC' }],
          search: { expression: 'sao pau*', mode: 'AND', fuzzy: false, fields: ['name', 'names'] },
          paging: { limit: 8, offset: 16 },
        },
        consistentRead: true,
      },
    ],
  ]);
  expect(items.search('c', 'x', { fuzzy: true }).toJSON()).toEqual({
    dataCollectionId: 'c',
    search: { fields: [], filter: {}, sort: [], search: { expression: 'x', mode: 'OR', fuzzy: true } },
  });
});

test('what is told beside the items is that of the page', async () => {
  const parts = [
    { text: 'New ', isMatch: false },
    { text: 'York', isMatch: true },
  ];
  const highlights = [{ fieldName: 'name', fragments: [{ parts, hasTextBefore: false, hasTextAfter: false }] }];
  const suggestions = { words: [{ word: 'yrok', alternatives: [{ word: 'york', itemCount: 2 }] }] };
  const { server, items } = await start(({ path }) => {
    const dataItems = [{ id: '1', data: { _id: '1' }, highlights }];
    const body = { dataItems, pagingMetadata: { count: 1, offset: 0, hasNext: true }, suggestions };
    return path === '/v2/items/search' ? { body } : undefined;
  });
  const search = items.search('c', 'yrok', { highlight: { fields: ['name'], maxLength: 50 }, suggest: true });
  const first = await search.limit(1).find();
  expect(first).toMatchObject({ items: [{ _id: '1' }], highlights: [highlights], suggestions });
  expect((await first.next()).highlights).toEqual([highlights]);
  const sent = server.to('/v2/items/search').map(({ body }) => body);
  for (const body of sent) {
    expect(body).toMatchObject({
      search: { highlight: { fields: ['name'], maxLength: 50 } },
      returnSuggestions: true,
    });
  }
  expect(items.search('c', 'x', { highlight: true }).toJSON().search.highlight).toEqual({});
});

test('nothing is told beside the items that was not asked for', async () => {
  const { server, items } = await start(found);
  const page = await items.search('c', 'x').find();
  expect([page.highlights, page.suggestions]).toEqual([undefined, undefined]);
  const { body } = server.to('/v2/items/search')[0] ?? {};
  expect(Object.keys(body ?? {})).not.toContain('returnSuggestions');
  expect(Object.keys((body?.['search'] ?? {}) as object)).not.toContain('highlight');
});

test('pages of a search have no total, and end', async () => {
  const { items } = await start(found);
  const first = await items.search<{ n: number }>('c', 'x').limit(50).find();
  expect(first).toMatchObject({ length: 50, totalCount: undefined, hasNext: true, hasPrev: false });
  const second = await first.next();
  expect(second).toMatchObject({ length: 20, offset: 50, hasNext: false });
  expect((await second.prev()).items[0]?.n).toBe(0);
  const seen: number[] = [];
  for await (const { n } of items.search<{ n: number }>('c', 'x').limit(30)) seen.push(n);
  expect(seen).toEqual(Array.from({ length: 70 }, (_, n) => n));
});

test('whether the index has everything', async () => {
  let isCurrent = false;
  const { items } = await start(({ path }) =>
    path === '/_api/search/v1/lag' ? { body: { isCurrent, lagMilliseconds: 5 } } : undefined,
  );
  expect(await items.searchIsCurrent()).toBe(false);
  isCurrent = true;
  expect(await items.searchIsCurrent()).toBe(true);
});

test('a pipeline sends its stages and gives its results', async () => {
  const results = [{ _id: { country: 'FR' }, places: 2, last: { $date: '2024-01-01T00:00:00.000Z' } }];
  const { server, items } = await start(({ path }) =>
    path === '/v2/items/aggregate-pipeline' ? { body: { results, pagingMetadata: { count: 1 } } } : undefined,
  );
  const stages = [
    { filter: { at: { $gt: new Date('2024-01-01T00:00:00.000Z') } } },
    {
      group: {
        groupIds: [{ key: 'country', expression: { fieldPath: 'country' } }],
        accumulators: [{ resultFieldName: 'places', sum: { expression: { numeric: 1 } } }],
      },
    },
  ];
  expect(await items.pipeline('cities', stages)).toEqual([
    { _id: { country: 'FR' }, places: 2, last: new Date('2024-01-01T00:00:00.000Z') },
  ]);
  expect(server.to('/v2/items/aggregate-pipeline').map(({ body }) => body)).toEqual([
    {
      dataCollectionId: 'cities',
      pipeline: { stages: [{ filter: { at: { $gt: { $date: '2024-01-01T00:00:00.000Z' } } } }, stages[1]] },
    },
  ]);
});

test('a refused search is an error', async () => {
  const { items } = await start(({ path }) =>
    path === '/v2/items/search' ? applicationError(400, 'WDE0190', 'WDE0190: off') : undefined,
  );
  await expect(items.search('c', 'x').find()).rejects.toMatchObject({ code: 'WDE0190', status: 400 });
});

const mistakes: [string, (items: Items) => unknown, string][] = [
  ['collection', (items) => items.search('', 'x'), 'WDE0001'],
  ['words', (items) => items.search('c', 5 as never), 'WDE0018'],
  ['unknown member', (items) => items.search('c', 'x', { mode: 'AND' } as never), 'WDE0018'],
  ['flag', (items) => items.search('c', 'x', { all: 1 } as never), 'WDE0018'],
  ['suggestions', (items) => items.search('c', 'x', { suggest: 1 } as never), 'WDE0018'],
  ['highlights', (items) => items.search('c', 'x', { highlight: false } as never), 'WDE0018'],
  ['a highlight option', (items) => items.search('c', 'x', { highlight: { tag: 'b' } } as never), 'WDE0018'],
  ['fields', (items) => items.search('c', 'x', { within: 'name' } as never), 'WDE0051'],
  ['a count', (items) => items.search('c', 'x').find({ returnTotalCount: true } as never), 'WDE0018'],
  ['stages', (items) => items.pipeline('c', {} as never), 'WDE0080'],
];
test.each(mistakes)('told before any request: %s', async (_, make, code) => {
  const { server, items } = await start(() => undefined);
  await expect((async () => make(items))()).rejects.toMatchObject({ name: 'StoaError', code, status: 0 });
  expect(server.seen).toHaveLength(0);
});
