import { afterEach, describe, expect, test, vi } from 'vitest';

import { type StoaError, type SubscriptionHandlers, type Tokens, createClient, memoryTokens } from '../src/index.ts';
import { type Handler, applicationError } from './server.ts';
import { type TestStream, serveStreams, streamPath, until } from './streams.ts';
import { change, holdTimers, isStatus, listen, visit } from './visits.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a subscription', () => {
  test('asks once, by POST and with the token in its header, and shows the items when all of them are there', async () => {
    const world = await serveStreams();
    const { subscription, told, ids } = listen(world, 3);
    expect(subscription.status).toBe('connecting');
    const stream = await world.stream(0);
    expect(stream.seen.method).toBe('POST');
    expect(stream.seen.query.toString()).toBe('');
    expect(stream.seen.headers).toMatchObject({ authorization: 'anonymous-1', accept: 'text/event-stream' });
    expect(stream.subscriptions).toEqual([
      {
        key: 's1',
        dataCollectionId: 'journal',
        filter: {},
        snapshot: true,
        limit: 23,
        sort: [{ fieldName: 'on', order: 'DESC' }],
      },
    ]);
    stream.send('snapshot', { key: 's1', items: [visit('c', '2024-03'), visit('b', '2024-02')] });
    stream.send('snapshot', { key: 's1', items: [visit('a', '2024-01')] });
    stream.raw(': still here\n\n');
    expect(ids()).toEqual([]);
    stream.send('ready', { key: 's1', total: 3 }, 't1');
    await isStatus(subscription, 'live');
    expect([told.items, told.changes, told.statuses]).toEqual([[['c', 'b', 'a']], [], ['live']]);
    expect(subscription.hasMore).toBe(false);
  });

  test('what enters, changes and leaves is told, and the items stay in their order', async () => {
    const world = await serveStreams();
    const { subscription, told, ids } = listen(world, 3);
    const stream = await world.stream(0);
    stream.ready([visit('c', '2024-03'), visit('a', '2024-01')]);
    await isStatus(subscription, 'live');
    const before = subscription.items;

    stream.send(
      'change',
      change('s1', 'enter', visit('b', '2024-02', { at: { $date: '2024-02-01T00:00:00Z' } })),
      't2',
    );
    await until(() => expect(ids()).toEqual(['c', 'b', 'a']));
    expect(subscription.items[1]).toEqual(visit('b', '2024-02', { at: new Date('2024-02-01T00:00:00Z') }));
    expect(before.map(({ _id }) => _id)).toEqual(['c', 'a']);

    stream.send('change', change('s1', 'update', visit('a', '2024-04'), { modifiedFields: ['on'] }), 't3');
    await until(() => expect(ids()).toEqual(['a', 'c', 'b']));
    stream.send('change', change('s1', 'enter', visit('x', '2023-12')), 't4');
    stream.send('change', change('s1', 'leave', visit('c', ''), { deleted: true }), 't5');
    await until(() => expect(ids()).toEqual(['a', 'b', 'x']));

    expect(told.changes.map(({ type, id, deleted, modifiedFields }) => [type, id, deleted, modifiedFields])).toEqual([
      ['enter', 'b', false, []],
      ['update', 'a', false, ['on']],
      ['enter', 'x', false, []],
      ['leave', 'c', true, []],
    ]);
    expect(told.changes[1]).toMatchObject({ item: { on: '2024-04' }, previous: { on: '2024-01' } });
    expect(told.changes[3]).toMatchObject({ item: null, previous: { on: '2024-03' } });
    // Those that came in one piece were told as one.
    expect(told.items.at(-1)).toEqual(['a', 'b', 'x']);
  });

  test('what happened to an item before what was told of it is left out', async () => {
    const world = await serveStreams();
    const { subscription, told, ids } = listen(world);
    const stream = await world.stream(0);
    stream.ready([visit('a', '2024-01'), visit('b', '2024-02')]);
    await isStatus(subscription, 'live');

    // Beyond what a number holds exactly, and longer numbers are later ones.
    const [early, late] = ['9007199254740992', '9007199254740993'];
    stream.send('change', change('s1', 'leave', visit('a', ''), { deleted: true, sequence: late }), 't2');
    stream.send('change', change('s1', 'update', visit('a', '2024-05'), { sequence: early }), 't3');
    stream.send('change', change('s1', 'update', visit('b', '2024-06'), { sequence: '9' }), 't4');
    stream.send('change', change('s1', 'update', visit('b', '2024-07'), { sequence: '10' }), 't5');
    stream.send('change', change('s1', 'update', visit('b', '2024-08'), { sequence: '10' }), 't6');
    await until(() => expect(told.changes).toHaveLength(4));
    expect(told.changes.map(({ type, id, item }) => [type, id, item?.on])).toEqual([
      ['leave', 'a', undefined],
      ['update', 'b', '2024-06'],
      ['update', 'b', '2024-07'],
      ['update', 'b', '2024-08'],
    ]);
    expect(ids()).toEqual(['b']);

    // It is remembered beyond the stream, and an item that comes again is a later change.
    stream.cut();
    const next = await world.stream(1);
    expect(next.subscriptions).toMatchObject([{ resume: 't6' }]);
    next.send('change', change('s1', 'enter', visit('a', '2024-05'), { sequence: early }), 't7');
    next.send('change', change('s1', 'enter', visit('a', '2024-09'), { sequence: `1${early}` }), 't8');
    await until(() => expect(told.changes).toHaveLength(5));
    expect(told.changes[4]).toMatchObject({ type: 'enter', item: { on: '2024-09' } });
    expect(ids()).toEqual(['a', 'b']);
  });

  test('changes that come together are one telling of the items', async () => {
    const world = await serveStreams();
    const { subscription, told } = listen(world);
    const stream = await world.stream(0);
    stream.ready();
    await isStatus(subscription, 'live');
    const messages = Array.from({ length: 40 }, (_, n) => {
      const data = JSON.stringify(change('s1', 'enter', visit(`v${n + 10}`, `${n + 10}`)));
      return `id: u${n}\nevent: change\ndata: ${data}\n\n`;
    });
    stream.raw(messages.join(''));
    await until(() => expect(told.changes).toHaveLength(40));
    expect(told.items.length).toBeLessThan(5);
    expect(told.items.at(-1)).toHaveLength(40);
  });

  test('fields are asked for with those that the order needs', async () => {
    const world = await serveStreams();
    world.stoa.items.query('journal').eq('city', 'x').fields('note', 'on').ascending('on', 'rank').subscribe();
    world.stoa.items.query('journal').fields('note').subscribe();
    const stream = await world.stream(0);
    expect(stream.subscriptions).toMatchObject([
      { filter: { city: 'x' }, fields: ['note', 'on', 'rank'] },
      { fields: ['note', '_createdDate'], sort: [{ fieldName: '_createdDate', order: 'DESC' }] },
    ]);
  });

  test('a hole at the end of what is shown is filled by asking again; the items stay meanwhile', async () => {
    const world = await serveStreams();
    const { subscription, ids } = listen(world, 1);
    const many = Array.from({ length: 21 }, (_, n) => visit(`v${n + 10}`, `${90 - n}`));
    const first = await world.stream(0);
    first.ready(many);
    await isStatus(subscription, 'live');
    expect([ids(), subscription.hasMore]).toEqual([['v10'], true]);
    for (const each of many.slice(0, 20)) first.send('change', change('s1', 'leave', each), `x${each._id}`);
    await until(() => expect(ids()).toEqual(['v30']));
    expect(world.streams).toHaveLength(1);
    first.send('change', change('s1', 'leave', visit('v30', '')), 'x30');
    const second = await world.stream(1);
    expect(second.subscriptions).toMatchObject([{ key: 's1', snapshot: true }]);
    second.ready([visit('z', '01')]);
    await until(() => expect(ids()).toEqual(['z']));
  });

  test('a hole that was made while nothing was heard is filled too', async () => {
    const world = await serveStreams();
    const { subscription, ids, told } = listen(world, 1);
    const many = Array.from({ length: 21 }, (_, n) => visit(`v${n + 10}`, `${90 - n}`));
    const first = await world.stream(0);
    first.ready(many);
    await isStatus(subscription, 'live');
    world.tellsNothingMissed = false;
    first.cut();
    const second = await world.stream(1);
    for (const each of many) second.send('change', change('s1', 'leave', each));
    second.send('ready', { key: 's1' }, 't2');
    const third = await world.stream(2);
    expect(third.subscriptions).toMatchObject([{ key: 's1', snapshot: true }]);
    expect([subscription.status, told.changes.length]).toEqual(['connecting', 21]);
    third.ready([visit('z', '01')]);
    await until(() => expect([ids(), told.items.at(-1)]).toEqual([['z'], ['z']]));
  });

  test('a handler that throws stops nothing', async () => {
    const errors: unknown[] = [];
    vi.stubGlobal('queueMicrotask', (work: () => void) => {
      try {
        work();
      } catch (error) {
        errors.push(error);
      }
    });
    const world = await serveStreams();
    const { subscription, ids } = listen(world, 50, {
      onItems: () => {
        throw new Error('mine');
      },
    });
    const stream = await world.stream(0);
    stream.ready([visit('a', '1')]);
    await isStatus(subscription, 'live');
    stream.send('change', change('s1', 'enter', visit('b', '2')), 't2');
    await until(() => expect(ids()).toEqual(['b', 'a']));
    expect(errors.map(String)).toEqual(['Error: mine', 'Error: mine']);
    expect(stream.isClosed).toBe(false);
  });

  test('wrong arguments are refused before any request', async () => {
    const world = await serveStreams();
    const query = world.stoa.items.query('journal');
    const refused = (code: string, work: () => unknown) =>
      expect(work).toThrow(expect.objectContaining({ code, status: 0 }) as StoaError);
    refused('WDE0018', () => query.skip(5).subscribe());
    refused('WDE0018', () => query.subscribe({ onItem: () => undefined } as SubscriptionHandlers<object>));
    refused('WDE0018', () => query.subscribe({ onItems: 5 } as unknown as SubscriptionHandlers<object>));
    refused('WDE0018', () => query.subscribe({}, { language: 'de' } as object));
    for (let n = 0; n < 20; n += 1) query.subscribe();
    refused('TOO_MANY_SUBSCRIPTIONS', () => query.subscribe());
    expect((await world.stream(0)).subscriptions).toHaveLength(20);
  });
});

describe('one stream for all', () => {
  test('another subscription opens another stream, on which the first goes on from where it stood', async () => {
    const world = await serveStreams();
    const visits = listen(world);
    const first = await world.stream(0);
    first.ready([visit('a', '1')], 't1');
    first.send('change', change('s1', 'enter', visit('b', '2')), 't2');
    await until(() => expect(visits.ids()).toEqual(['b', 'a']));

    const cars = world.stoa.items.query('cars').subscribe();
    const bikes = world.stoa.items.query('bikes').subscribe();
    const second = await world.stream(1);
    expect(second.subscriptions).toEqual([
      { key: 's1', dataCollectionId: 'journal', filter: {}, resume: 't2' },
      expect.objectContaining({ key: 's2', dataCollectionId: 'cars', snapshot: true }),
      expect.objectContaining({ key: 's3', dataCollectionId: 'bikes', snapshot: true }),
    ]);
    await until(() => expect(first.isClosed).toBe(true));
    second.send('change', change('s1', 'enter', visit('c', '3')), 't3');
    second.ready([{ _id: 'm', _createdDate: { $date: '2024-01-01T00:00:00Z' } }], 't3');
    await until(() => expect(visits.ids()).toEqual(['c', 'b', 'a']));
    await isStatus(cars, 'live');
    await isStatus(bikes, 'live');
    expect(visits.told.statuses).toEqual(['live']);
    expect(visits.told.changes.map(({ id }) => id)).toEqual(['b', 'c']);
    expect(world.streams).toHaveLength(2);
  });

  test('a failure is of one subscription alone', async () => {
    const world = await serveStreams();
    const good = listen(world);
    const errors: (StoaError | null)[] = [];
    const bad = world.stoa.items.query('secret').subscribe({ onStatus: (_, error) => errors.push(error) });
    const stream = await world.stream(0);
    stream.send('failed', { key: 's2', code: 'WDE0027', description: 'No permission.' });
    stream.ready([visit('a', '1')]);
    await isStatus(good.subscription, 'live');
    expect(bad.status).toBe('failed');
    expect(bad.error).toMatchObject({ name: 'StoaError', code: 'WDE0027', message: 'No permission.' });
    expect(errors).toEqual([bad.error]);
    stream.cut();
    const second = await world.stream(1);
    expect(second.subscriptions.map(({ key }) => key)).toEqual(['s1']);
  });

  test('one that is closed is left out; without any, the stream is closed', async () => {
    const world = await serveStreams();
    const stop = new AbortController();
    const visits = listen(world);
    const cars = world.stoa.items.query('cars').subscribe({}, { signal: stop.signal });
    const first = await world.stream(0);
    first.ready([visit('a', '1')]);
    await isStatus(cars, 'live');
    stop.abort();
    expect(cars.status).toBe('closed');
    const second = await world.stream(1);
    expect(second.subscriptions).toEqual([expect.objectContaining({ key: 's1', resume: 't1' })]);
    await isStatus(visits.subscription, 'live');
    visits.subscription.close();
    visits.subscription.close();
    await until(() => expect(second.isClosed).toBe(true));
    expect(visits.told.statuses).toEqual(['live']);
    expect(visits.ids()).toEqual(['a']);
  });

  test('one that is closed at once, as by a signal that is aborted already, asks nothing', async () => {
    const world = await serveStreams();
    expect(world.stoa.items.query('cars').subscribe({}, { signal: AbortSignal.abort() }).status).toBe('closed');
    world.stoa.items.query('cars').subscribe().close();
    await new Promise((done) => setTimeout(done, 100));
    expect(world.server.seen).toEqual([]);
  });
});

describe('a stream that ends', () => {
  test('is followed by one that goes on, after a pause that grows', async () => {
    const world = await serveStreams();
    holdTimers();
    const { subscription, told, ids } = listen(world);
    vi.advanceTimersByTime(10);
    const first = await world.stream(0);
    first.ready([visit('a', '1')], 't1');
    await isStatus(subscription, 'live');
    for (const [n, longest] of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
      const stream = await world.stream(n);
      await isStatus(subscription, 'live');
      stream.cut();
      await isStatus(subscription, 'waiting');
      expect(ids()).toEqual(['a']);
      vi.advanceTimersByTime(longest / 2 - 1);
      expect(world.server.to(streamPath)).toHaveLength(n + 1);
      vi.advanceTimersByTime(longest / 2 + 1);
      expect((await world.stream(n + 1)).subscriptions).toMatchObject([{ resume: 't1' }]);
    }
    await isStatus(subscription, 'live');
    vi.advanceTimersByTime(31_000);
    (await world.stream(7)).cut();
    await isStatus(subscription, 'waiting');
    vi.advanceTimersByTime(1000);
    await world.stream(8);
    expect(told.items).toEqual([['a']]);
  });

  test('says when to come back', async () => {
    const world = await serveStreams();
    holdTimers();
    const { subscription } = listen(world);
    vi.advanceTimersByTime(10);
    const first = await world.stream(0);
    first.ready([]);
    await isStatus(subscription, 'live');
    vi.advanceTimersByTime(5000);
    first.send('bye', { reconnectMs: 7000 });
    await until(() => expect(first.isClosed).toBe(true));
    expect(subscription.status).toBe('waiting');
    vi.advanceTimersByTime(6999);
    expect(world.server.to(streamPath)).toHaveLength(1);
    vi.advanceTimersByTime(1);
    // One that says so at once, again and again, is not asked without a pause.
    const second = await world.stream(1);
    second.send('bye', { reconnectMs: 0 });
    await until(() => expect(second.isClosed).toBe(true));
    expect(subscription.status).toBe('waiting');
    vi.advanceTimersByTime(499);
    expect(world.server.to(streamPath)).toHaveLength(2);
    vi.advanceTimersByTime(501);
    await world.stream(2);
  });

  test('what stands before a goodbye is told', async () => {
    const world = await serveStreams();
    const { subscription, told } = listen(world);
    const first = await world.stream(0);
    first.ready([visit('a', '1')], 't1');
    await isStatus(subscription, 'live');
    const data = JSON.stringify(change('s1', 'enter', visit('b', '2')));
    first.raw(`id: t2\nevent: change\ndata: ${data}\n\nevent: bye\ndata: {"reconnectMs":60000}\n\n`);
    await isStatus(subscription, 'waiting');
    expect(told.items).toEqual([['a'], ['b', 'a']]);
  });

  test('what was missed is told, and only then it is live', async () => {
    const world = await serveStreams();
    const { subscription, told, ids } = listen(world);
    const cars = world.stoa.items.query('cars').subscribe();
    const first = await world.stream(0);
    first.ready([visit('a', '1'), visit('b', '2')], 't1');
    await isStatus(cars, 'live');
    world.tellsNothingMissed = false;
    first.cut();
    const second = await world.stream(1);
    const missed = (stream: TestStream) => {
      stream.send('change', change('s1', 'leave', visit('a', ''), { deleted: true }));
      stream.send('change', change('s1', 'enter', visit('c', '3')));
    };
    missed(second);
    second.send('ready', { key: 's2' }, 't5');
    await isStatus(cars, 'live');
    expect(subscription.status).toBe('waiting');
    // In the middle of it: the one is told from its beginning, the other goes on from where it was.
    second.cut();
    const third = await world.stream(2);
    expect(third.subscriptions).toMatchObject([{ resume: 't1' }, { resume: 't5' }]);
    expect([ids(), told.changes]).toEqual([['b', 'a'], []]);
    missed(third);
    third.send('ready', { key: 's2' }, 't6');
    await isStatus(cars, 'live');
    // Its end comes in another packet.
    expect([ids(), told.items.length]).toEqual([['b', 'a'], 1]);
    third.send('ready', { key: 's1' }, 't6');
    await isStatus(subscription, 'live');
    expect(told.changes.map(({ id }) => id)).toEqual(['a', 'c']);
    await until(() =>
      expect(told.items).toEqual([
        ['b', 'a'],
        ['c', 'b'],
      ]),
    );
  });

  test('of a quiet one the place moves along, with signs of life and with what the others are told', async () => {
    const world = await serveStreams();
    const visits = listen(world);
    const cars = world.stoa.items.query('cars').subscribe();
    const first = await world.stream(0);
    first.ready([], 't1');
    await isStatus(cars, 'live');
    first.raw(': \nid: t2\n\n');
    first.end();
    const second = await world.stream(1);
    expect(second.subscriptions).toMatchObject([{ resume: 't2' }, { resume: 't2' }]);
    second.send('change', change('s1', 'enter', visit('a', '1')), 't3');
    // Without a place that is good for all.
    second.send('change', change('s1', 'enter', visit('b', '2')));
    await until(() => expect(visits.ids()).toEqual(['b', 'a']));
    second.cut();
    expect((await world.stream(2)).subscriptions).toMatchObject([{ resume: 't3' }, { resume: 't3' }]);
  });

  test('in the middle of the items: they are asked for again', async () => {
    const world = await serveStreams();
    const { subscription, told, ids } = listen(world);
    const first = await world.stream(0);
    first.send('snapshot', { key: 's1', items: [visit('a', '1'), visit('b', '2')] });
    first.raw('event: snapshot\ndata: {"key":"s1","it');
    first.cut();
    const second = await world.stream(1);
    expect(second.subscriptions).toMatchObject([{ snapshot: true }]);
    second.ready([visit('b', '2')]);
    await isStatus(subscription, 'live');
    expect(ids()).toEqual(['b']);
    expect(told.statuses).toEqual(['waiting', 'live']);
  });

  test('is noticed by its silence, which comments break', async () => {
    const world = await serveStreams();
    holdTimers();
    const { subscription } = listen(world);
    vi.advanceTimersByTime(10);
    const first = await world.stream(0);
    first.ready([], 't1');
    await isStatus(subscription, 'live');
    vi.advanceTimersByTime(40_000);
    first.raw(': \n\n');
    first.send('change', change('s1', 'enter', visit('a', '1')), 't2');
    await until(() => expect(subscription.items).toHaveLength(1));
    vi.advanceTimersByTime(44_999);
    expect(subscription.status).toBe('live');
    vi.advanceTimersByTime(1);
    await isStatus(subscription, 'waiting');
    await until(() => expect(first.isClosed).toBe(true));
    vi.advanceTimersByTime(1000);
    expect((await world.stream(1)).subscriptions).toMatchObject([{ resume: 't2' }]);
  });

  test('the server is gone and comes back', async () => {
    let isGone = true;
    const world = await serveStreams();
    const { url } = world.server;
    // Leads to a server that is not there, then to one that is.
    const stoa = createClient({
      baseUrl: url,
      clientId: 'c1',
      tokens: memoryTokens(),
      fetch: (input, init) => fetch(isGone ? input.replace(url, 'http://127.0.0.1:1') : input, init),
    });
    const subscription = stoa.items.query('journal').subscribe();
    await isStatus(subscription, 'waiting');
    isGone = false;
    const stream = await world.stream(0);
    stream.ready([visit('a', '1')]);
    await isStatus(subscription, 'live');
  });

  test('an unreadable message ends it too', async () => {
    const world = await serveStreams();
    const { subscription, ids } = listen(world);
    const first = await world.stream(0);
    first.ready([visit('a', '1')], 't1');
    await isStatus(subscription, 'live');
    first.raw('id: t2\nevent: change\ndata: {"key":"s1","type":"enter","id":"b"}\n\n');
    const second = await world.stream(1);
    expect(second.subscriptions).toMatchObject([{ resume: 't1' }]);
    second.raw('event: change\ndata: {\n\n');
    const third = await world.stream(2);
    // What it does not know is left alone.
    third.raw('event: news\ndata: {"key":"s1"}\n\nevent: change\ndata: {"key":"other"}\n\ndata: {}\n\n');
    third.send('change', change('s1', 'enter', visit('b', '2')), 't3');
    await until(() => expect(ids()).toEqual(['b', 'a']));
  });
});

describe('resync', () => {
  test('the items are asked for again and stay until the others are there', async () => {
    const world = await serveStreams();
    const { subscription, told, ids } = listen(world);
    const first = await world.stream(0);
    first.ready([visit('a', '1')], 't1');
    await isStatus(subscription, 'live');
    first.send('resync', { key: 's1', reason: 'overload' });
    first.send('change', change('s1', 'enter', visit('stray', '9')), 't9');
    const second = await world.stream(1);
    expect(second.subscriptions).toMatchObject([{ key: 's1', snapshot: true, limit: 70 }]);
    expect(second.subscriptions[0]).not.toHaveProperty('resume');
    expect([subscription.status, ids()]).toEqual(['connecting', ['a']]);
    second.send('snapshot', { key: 's1', items: [visit('b', '2')] });
    second.send('ready', { key: 's1' }, 't10');
    await isStatus(subscription, 'live');
    expect(told.items).toEqual([['a'], ['b']]);
    expect(told.changes).toEqual([]);
  });

  test('a stream that ends with its last subscription: the items are asked for without waiting', async () => {
    const world = await serveStreams();
    holdTimers();
    const { subscription, ids } = listen(world);
    vi.advanceTimersByTime(10);
    const first = await world.stream(0);
    first.ready([visit('a', '1')], 't1');
    await isStatus(subscription, 'live');
    vi.advanceTimersByTime(5000);
    first.send('resync', { key: 's1', reason: 'truncated' });
    first.send('bye', { reconnectMs: 5000 });
    await until(() => expect(first.isClosed).toBe(true));
    vi.advanceTimersByTime(250);
    (await world.stream(1)).ready([]);
    await until(() => expect(ids()).toEqual([]));
  });

  test('a token from before: the server says gap, and the items are asked for', async () => {
    const world = await serveStreams();
    const { subscription, ids } = listen(world);
    const first = await world.stream(0);
    first.ready([visit('a', '1')], 'old');
    await isStatus(subscription, 'live');
    first.cut();
    const second = await world.stream(1);
    expect(second.subscriptions).toMatchObject([{ resume: 'old' }]);
    second.send('resync', { key: 's1', reason: 'gap' });
    const third = await world.stream(2);
    expect(third.subscriptions).toMatchObject([{ snapshot: true }]);
    third.ready([visit('b', '2')]);
    await until(() => expect(ids()).toEqual(['b']));
  });

  test('an overload that goes on is asked about more and more slowly, and the others lose nothing', async () => {
    const world = await serveStreams();
    holdTimers();
    const visits = listen(world);
    const cars = world.stoa.items.query('cars').subscribe();
    vi.advanceTimersByTime(10);
    (await world.stream(0)).ready([visit('a', '1')], 't1');
    await isStatus(cars, 'live');
    for (const [n, longest] of [250, 500, 1000, 2000, 4000, 8000].entries()) {
      const stream = await world.stream(n);
      stream.ready([visit('a', '1')], 't1');
      await isStatus(visits.subscription, 'live');
      stream.send('resync', { key: 's1', reason: 'overload' });
      stream.send('change', change('s2', 'enter', visit(`car${n}`, '')), `u${n}`);
      await until(() => expect(cars.items).toHaveLength(n + 2));
      vi.advanceTimersByTime(longest / 2 - 1);
      expect(world.server.to(streamPath)).toHaveLength(n + 1);
      vi.advanceTimersByTime(longest / 2 + 1);
      expect((await world.stream(n + 1)).subscriptions).toMatchObject([{ snapshot: true }, { resume: `u${n}` }]);
    }
    expect(cars.status).toBe('live');
  });
});

describe('the caller', () => {
  const member = (access: string, refresh = 'r'): Tokens => ({
    accessToken: { value: access, expiresAt: Math.floor(Date.now() / 1000) + 3600 },
    refreshToken: { value: refresh, role: 'member' },
  });

  test('a token that is refused is renewed once, and the stream is opened with the new one', async () => {
    const refuse: Handler = ({ path, headers }) =>
      path === streamPath && headers['authorization'] === 'ended'
        ? { status: 401, body: { message: 'ended' } }
        : undefined;
    const world = await serveStreams(refuse, memoryTokens(member('ended')));
    const { subscription } = listen(world);
    const stream = await world.stream(0);
    expect(stream.seen.headers['authorization']).toBe('refresh_token-1');
    expect(world.server.to('/oauth2/token')).toHaveLength(1);
    expect(world.server.to(streamPath)).toHaveLength(2);
    stream.ready([]);
    await isStatus(subscription, 'live');
  });

  test('when the token ends, the server says goodbye and the next stream has a new one', async () => {
    const world = await serveStreams(undefined, memoryTokens(member('first')));
    holdTimers();
    const { subscription } = listen(world);
    vi.advanceTimersByTime(10);
    const first = await world.stream(0);
    first.ready([], 't1');
    await isStatus(subscription, 'live');
    vi.advanceTimersByTime(40_000);
    first.raw(': \n\n');
    vi.setSystemTime(Date.now() + 3_600_000);
    first.send('bye', { reconnectMs: 100 });
    await isStatus(subscription, 'waiting');
    vi.advanceTimersByTime(100);
    const second = await world.stream(1);
    expect(second.seen.headers['authorization']).toBe('refresh_token-1');
    expect(second.subscriptions).toMatchObject([{ resume: 't1' }]);
  });

  test('signing in or out: what the one before saw is gone at once, and asked for as the other', async () => {
    const world = await serveStreams(undefined, memoryTokens(member('mine')));
    // As another tab would, which this client hears of.
    let heard: () => void = () => undefined;
    const shared = {
      ...world.tokens,
      subscribe: (listener: () => void) => {
        heard = listener;
        return () => undefined;
      },
    };
    const stoa = createClient({ baseUrl: world.server.url, clientId: 'c1', tokens: shared });
    const { subscription, told, ids } = listen({ ...world, stoa });
    const first = await world.stream(0);
    first.ready([visit('mine', '1')], 't1');
    await isStatus(subscription, 'live');
    // A renewal in the other tab changes nothing.
    world.tokens.set(member('mine-2', 'r2'));
    heard();
    expect(subscription.status).toBe('live');

    world.tokens.set({ accessToken: { value: '', expiresAt: 0 }, refreshToken: { value: '', role: 'none' } });
    heard();
    expect([subscription.status, ids()]).toEqual(['connecting', []]);
    expect(told.items.at(-1)).toEqual([]);
    const second = await world.stream(1);
    await until(() => expect(first.isClosed).toBe(true));
    expect(second.seen.headers['authorization']).toBe('anonymous-1');
    expect(second.subscriptions).toMatchObject([{ snapshot: true }]);
  });
});

describe('a refused request', () => {
  const refusing = (answers: Record<number, ReturnType<Handler>>) => {
    let asked = 0;
    return serveStreams(({ path }) => (path === streamPath ? answers[asked++] : undefined));
  };

  test('fails for good when it would be refused again', async () => {
    const world = await refusing({ 0: applicationError(403, 'WDE0027', 'No.') });
    const { subscription, told } = listen(world);
    await isStatus(subscription, 'failed');
    expect(subscription.error).toMatchObject({ code: 'WDE0027', status: 403 });
    expect(told.statuses).toEqual(['failed']);
    // The next subscription begins anew.
    const next = listen(world);
    (await world.stream(0)).ready([]);
    await isStatus(next.subscription, 'live');
  });

  test('fails for the subscriptions that it names, and the others are asked for without them', async () => {
    const fieldViolations = [{ field: 'subscriptions[1].filter.$near', description: 'There is no such operator.' }];
    const world = await refusing({ 0: { status: 400, body: { details: { validationError: { fieldViolations } } } } });
    const good = listen(world);
    const bad = world.stoa.items.query('cars').subscribe();
    await isStatus(bad, 'failed');
    expect(bad.error?.violations).toEqual(fieldViolations);
    const stream = await world.stream(0);
    expect(stream.subscriptions.map(({ key }) => key)).toEqual(['s1']);
    stream.ready([]);
    await isStatus(good.subscription, 'live');
  });

  test('is made again when the server is busy, not before the time that it names', async () => {
    const world = await refusing({
      0: { ...applicationError(429, 'WDE0122', 'Too many.'), headers: { 'retry-after': '20' } },
      1: { status: 503, text: 'no JSON' },
    });
    holdTimers();
    const { subscription } = listen(world);
    vi.advanceTimersByTime(10);
    await isStatus(subscription, 'waiting');
    vi.advanceTimersByTime(19_999);
    expect(world.server.to(streamPath)).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await until(() => expect(world.server.to(streamPath)).toHaveLength(2));
    expect(subscription.status).toBe('waiting');
    await new Promise((done) => setImmediate(done));
    await until(() => {
      vi.advanceTimersByTime(2000);
      expect(world.streams).toHaveLength(1);
    });
  });

  test('an answer that is no stream is no success', async () => {
    const world = await refusing({ 0: { text: '<!doctype html>', headers: { 'content-type': 'text/html' } } });
    const { subscription } = listen(world);
    await isStatus(subscription, 'waiting');
    (await world.stream(0)).ready([]);
    await isStatus(subscription, 'live');
  });
});
