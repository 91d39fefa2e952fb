import { describe, expect, test } from 'vitest';

import { type Items, createClient, filter, memoryTokens } from '../src/index.ts';
import { type Handler, type Seen, applicationError, serve } from './server.ts';

async function start(handler: Handler) {
  const server = await serve(handler);
  return { server, items: createClient({ baseUrl: server.url, clientId: 'c1', tokens: memoryTokens() }).items };
}

/** Numbers 0 to 124 as items, by offset paging. */
const numbers: Handler = ({ path, body }) => {
  if (path !== '/v2/items/query') return undefined;
  const { paging } = body['query'] as { paging?: { limit?: number; offset?: number } };
  const offset = paging?.offset ?? 0;
  const limit = paging?.limit ?? 50;
  const list = Array.from({ length: 125 }, (_, n) => ({ id: `${n}`, data: { _id: `${n}`, n } })).slice(
    offset,
    offset + limit,
  );
  const total = body['returnTotalCount'] === true ? { total: 125 } : {};
  return {
    body: { dataItems: list, pagingMetadata: { count: list.length, offset, hasNext: offset + limit < 125, ...total } },
  };
};

const wireOf = (seen: Seen[]) => seen.filter(({ path }) => path !== '/oauth2/token').map(({ body }) => body);

describe('query', () => {
  test('the bare query is the known vector of docs/protocol/content.md §1.5, but for the empty includes', async () => {
    const { server, items } = await start(numbers);
    expect(JSON.stringify(items.query('c'))).toBe(
      '{"dataCollectionId":"c","query":{"fields":[],"filter":{},"sort":[]}}',
    );
    await items.query('c').find();
    expect(server.to('/v2/items/query')[0]).toMatchObject({
      method: 'GET',
      body: { dataCollectionId: 'c', query: { fields: [], filter: {}, sort: [] } },
    });
  });

  test('every part at its place', async () => {
    const { server, items } = await start(numbers);
    const base = items.query('cities').eq('country', 'FR');
    await base
      .ge('population', 1000)
      .descending('population')
      .ascending('name', '_id')
      .fields('name', 'a.b')
      .limit(10)
      .skip(20)
      .find({ returnTotalCount: true, consistentRead: true, language: 'de', showDrafts: true, suppressHooks: false });
    expect(wireOf(server.seen)).toEqual([
      {
        dataCollectionId: 'cities',
        query: {
          fields: ['name', 'a.b'],
          filter: { country: 'FR', population: { $gte: 1000 } },
          sort: [
            { fieldName: 'population', order: 'DESC' },
            { fieldName: 'name', order: 'ASC' },
            { fieldName: '_id', order: 'ASC' },
          ],
          paging: { limit: 10, offset: 20 },
        },
        returnTotalCount: true,
        consistentRead: true,
        language: 'de',
        publishPluginOptions: { includeDraftItems: true },
      },
    ]);
    expect(base.toJSON().query).toEqual({ fields: [], filter: { country: 'FR' }, sort: [] });
    expect(base.skip(3).toJSON().query.paging).toEqual({ offset: 3 });
    expect(base.skip(0).toJSON().query.paging).toBeUndefined();
  });

  test('GET up to 2,048 characters of path and query, POST beyond', async () => {
    const { server, items } = await start(numbers);
    const lengths = new Set<string>();
    for (let size = 1400; size < 1480; size += 4) {
      await items.query('c').eq('a', 'x'.repeat(size)).find();
      const last = server.seen.at(-1);
      const packed = last?.query.get('.r') ?? Buffer.from(JSON.stringify(last?.body)).toString('base64url');
      const length = '/v2/items/query?.r='.length + packed.length;
      expect(last?.method).toBe(length <= 2048 ? 'GET' : 'POST');
      lengths.add(last?.method ?? '');
    }
    expect(lengths).toEqual(new Set(['GET', 'POST']));
  });

  test('paging forward and back', async () => {
    const { server, items } = await start(numbers);
    const first = await items.query<{ n: number }>('c').limit(50).find({ returnTotalCount: true });
    expect(first).toMatchObject({
      length: 50,
      totalCount: 125,
      totalPages: 3,
      currentPage: 0,
      hasNext: true,
      hasPrev: false,
    });
    await expect(first.prev()).rejects.toMatchObject({ code: 'WDE0159' });
    const second = await first.next();
    const third = await second.next();
    expect(third.items.map(({ n }) => n).slice(0, 2)).toEqual([100, 101]);
    expect(third).toMatchObject({ length: 25, totalCount: 125, currentPage: 2, hasNext: false, hasPrev: true });
    await expect(third.next()).rejects.toMatchObject({ code: 'WDE0165' });
    expect((await third.prev()).items[0]?.n).toBe(50);
    expect(wireOf(server.seen).map((body) => body['returnTotalCount'])).toEqual([
      true,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('for await goes over all pages, and stops when asked', async () => {
    const { server, items } = await start(numbers);
    const seen: number[] = [];
    for await (const { n } of items.query<{ n: number }>('c').limit(40)) seen.push(n);
    expect(seen).toEqual(Array.from({ length: 125 }, (_, n) => n));
    expect(server.to('/v2/items/query')).toHaveLength(4);
    for await (const { n } of items.query<{ n: number }>('c').limit(40)) if (n === 3) break;
    expect(server.to('/v2/items/query')).toHaveLength(5);
  });

  test('a call can be cancelled', async () => {
    const { items } = await start(({ path }) =>
      path === '/v2/items/query' ? new Promise(() => undefined) : undefined,
    );
    const stop = new AbortController();
    const call = items.query('c').find({ signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('count', async () => {
    const { server, items } = await start(({ path }) =>
      path === '/v2/items/count' ? { body: { totalCount: 3 } } : undefined,
    );
    expect(await items.count('c')).toBe(3);
    expect(await items.count('c', filter().eq('a', 1))).toBe(3);
    expect(await items.query('c').gt('a', 1).limit(2).count()).toBe(3);
    expect(wireOf(server.seen)).toEqual([
      { dataCollectionId: 'c', filter: {} },
      { dataCollectionId: 'c', filter: { a: 1 } },
      { dataCollectionId: 'c', filter: { a: { $gt: 1 } } },
    ]);
  });
});

describe('items', () => {
  const echo: Handler = ({ path, body, query }) => {
    const item = body['dataItem'] as { id?: string; data: object } | undefined;
    if (path === '/v2/items' || path === '/v2/items/update') {
      const stored = { _id: item?.id ?? 'made', _createdDate: { $date: '2024-01-01T00:00:00.000Z' }, ...item?.data };
      return { body: { dataItem: { id: stored._id, data: stored } } };
    }
    const id = query.get('dataItemId') ?? body['dataItemId'];
    if (typeof id !== 'string') return undefined;
    return id === 'there/is'
      ? { body: { dataItem: { id, data: { _id: id } } } }
      : applicationError(404, 'WDE0073', 'WDE0073: no');
  };

  test('insert and update: Dates go and come', async () => {
    const { server, items } = await start(echo);
    const visitedAt = new Date('2024-05-06T07:08:09.010Z');
    const stored = await items.insert('journal', { visitedAt, deep: [{ at: visitedAt }], none: undefined });
    expect(stored).toEqual({
      _id: 'made',
      _createdDate: new Date('2024-01-01T00:00:00.000Z'),
      visitedAt,
      deep: [{ at: visitedAt }],
    });
    await items.update('journal', { _id: 'i1', id: 'mine' });
    expect(wireOf(server.seen)).toEqual([
      {
        dataCollectionId: 'journal',
        dataItem: {
          data: {
            visitedAt: { $date: '2024-05-06T07:08:09.010Z' },
            deep: [{ at: { $date: '2024-05-06T07:08:09.010Z' } }],
          },
        },
      },
      { dataCollectionId: 'journal', dataItem: { id: 'i1', data: { _id: 'i1', id: 'mine' } } },
    ]);
  });

  test('get and remove: an item, or null where there is none', async () => {
    const { server, items } = await start(echo);
    expect(await items.get('c', 'there/is')).toEqual({ _id: 'there/is' });
    expect(server.seen.at(-1)?.path).toBe('/v2/items/there%2Fis');
    expect(await items.get('c', 'gone')).toBeNull();
    expect(await items.get('c', 'gone', { showDrafts: true })).toBeNull();
    expect(server.seen.at(-1)?.query.has('.r')).toBe(true);
    expect(await items.remove('c', 'there/is')).toEqual({ _id: 'there/is' });
    expect(await items.remove('c', 'gone')).toBeNull();
    await expect(items.update('c', { _id: 'x' }, { suppressHooks: true })).resolves.toBeDefined();
  });

  test('text that looks like a date stays text, a $date that is none stays as it is', async () => {
    const data = {
      _id: '1',
      text: '2024-01-01T00:00:00.000Z',
      odd: { $date: 5 },
      bad: { $date: 'x' },
      two: { $date: '2024-01-01', more: 1 },
    };
    const { items } = await start(({ path }) =>
      path.startsWith('/v2') ? { body: { dataItem: { id: '1', data } } } : undefined,
    );
    expect(await items.get('c', '1')).toEqual(data);
  });
});

describe('errors', () => {
  const failing = async (answer: ReturnType<Handler>) => {
    const { items } = await start(({ path }) => (path === '/oauth2/token' ? undefined : answer));
    return items.count('c').then(
      () => expect.unreachable(),
      (error: unknown) => error,
    );
  };

  test('an application error', async () => {
    expect(await failing(applicationError(403, 'WDE0027', 'WDE0027: no right'))).toMatchObject({
      name: 'StoaError',
      code: 'WDE0027',
      status: 403,
      message: 'WDE0027: no right',
      requestId: 'r2',
      details: { applicationError: { code: 'WDE0027' } },
      violations: [],
    });
  });

  test('a validation error, violations sorted', async () => {
    const fieldViolations = [
      { field: 'z', description: 'too long', violatedRule: 'MAX_LENGTH', data: { threshold: 5 } },
      { description: 'without a field' },
      { field: 'a', description: 'missing' },
    ];
    expect(
      await failing({ status: 400, body: { message: 'INVALID', details: { validationError: { fieldViolations } } } }),
    ).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'a: missing; z: too long',
      violations: [{ field: 'a' }, { field: 'z', violatedRule: 'MAX_LENGTH', data: { threshold: 5 } }],
    });
  });

  test.each([
    ['413 of a proxy', { status: 413, text: '<html>' }, { code: 'WDE0109', status: 413 }],
    ['no body', { status: 502, text: '' }, { code: 'HTTP_502', status: 502, message: 'Bad Gateway' }],
    ['a message only', { status: 500, body: { message: 'oops' } }, { code: 'HTTP_500', message: 'oops' }],
    ['a success that is not JSON', { status: 200, text: '' }, { code: 'UNREADABLE', status: 200 }],
    ['odd details', { status: 400, body: { details: [null] } }, { code: 'HTTP_400' }],
  ])('%s', async (_, answer, expected) => {
    expect(await failing(answer)).toMatchObject(expected);
  });
});

describe('mistakes are told before any request', () => {
  const call: [string, (items: Items) => unknown, string][] = [
    ['collection', (items) => items.query(''), 'WDE0001'],
    ['collection of a kind', (items) => items.get(1 as never, 'x'), 'WDE0001'],
    ['id', (items) => items.get('c', ''), 'WDE0002'],
    ['item', (items) => items.insert('c', []), 'WDE0004'],
    ['_id', (items) => items.insert('c', { _id: '' }), 'WDE0007'],
    ['update without _id', (items) => items.update('c', {} as never), 'WDE0007'],
    ['limit 0', (items) => items.query('c').limit(0), 'WDE0033'],
    ['limit of text', (items) => items.query('c').limit('5' as never), 'WDE0032'],
    ['skip', (items) => items.query('c').skip(-1), 'WDE0034'],
    ['half a skip', (items) => items.query('c').skip(0.5), 'WDE0035'],
    ['sort', (items) => items.query('c').ascending(), 'WDE0051'],
    ['unknown option', (items) => items.query('c').find({ total: true } as never), 'WDE0018'],
    ['option of another call', (items) => items.insert('c', {}, { consistentRead: true } as never), 'WDE0018'],
    ['option not a flag', (items) => items.get('c', 'x', { showDrafts: 1 } as never), 'WDE0018'],
    ['empty language', (items) => items.count('c', filter(), { language: '' }), 'WDE0018'],
    ['options not an object', (items) => items.remove('c', 'x', null as never), 'WDE0018'],
  ];
  test.each(call)('%s', async (_, make, code) => {
    const { server, items } = await start(() => undefined);
    await expect((async () => make(items))()).rejects.toMatchObject({ name: 'StoaError', code, status: 0 });
    expect(server.seen).toHaveLength(0);
  });
});
