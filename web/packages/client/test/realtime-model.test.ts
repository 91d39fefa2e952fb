/** Random writes, cut connections, lost places and subscriptions that come and go, beside a model of the server. */
import { afterEach, expect, test, vi } from 'vitest';

import type { Change, Subscription, System } from '../src/index.ts';
import { type TestStream, type WireSubscription, serveStreams, until } from './streams.ts';

interface Item {
  readonly _id: string;
  readonly kind: string;
  readonly rank: number;
}

interface Row {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
  readonly id: string;
}

/** A collection with its log. A place in the log is the number of rows before it; rows before `kept` are gone. */
class Model {
  readonly items = new Map<string, Item>();
  readonly log: Row[] = [];
  kept = 0;

  write(id: string, after: Item | undefined): Row {
    const row = { id, before: this.items.get(id), after };
    if (after === undefined) this.items.delete(id);
    else this.items.set(id, after);
    this.log.push(row);
    return row;
  }

  matching(kind: unknown): Item[] {
    return [...this.items.values()]
      .filter((each) => each.kind === kind)
      .sort((a, b) => a.rank - b.rank || (a._id < b._id ? -1 : 1));
  }

  /** Answers a stream as the server does; after so many messages of what was missed it ends. */
  begin(stream: TestStream, most: number): void {
    let missed = 0;
    for (const subscription of stream.subscriptions) {
      const { key, resume, limit } = subscription;
      const from = Number(resume);
      if (resume !== undefined && from < this.kept) {
        stream.send('resync', { key, reason: 'gap' });
        continue;
      }
      if (resume === undefined) {
        const items = this.matching(kindOf(subscription)).slice(0, Number(limit));
        for (let at = 0; at < items.length; at += 5) stream.send('snapshot', { key, items: items.slice(at, at + 5) });
      } else {
        for (const [n, row] of this.log.slice(from).entries()) {
          if (this.tell(stream, subscription, row, from + n + 1, true)) missed += 1;
          if (missed > most) return stream.end();
        }
      }
      stream.send('ready', { key }, String(this.log.length));
    }
  }

  /** What was missed has no place of its own. */
  tell(
    stream: TestStream,
    subscription: WireSubscription,
    { id, before, after }: Row,
    place: number,
    isMissed = false,
  ): boolean {
    const kind = kindOf(subscription);
    const [was, is] = [before?.kind === kind, after?.kind === kind];
    if (!was && !is) return false;
    const type = is ? (was ? 'update' : 'enter') : 'leave';
    const data = { key: subscription.key, type, id, sequence: String(place), ...(is ? { item: after } : {}) };
    stream.send('change', data, isMissed ? undefined : String(place));
    return true;
  }
}

const kindOf = ({ filter }: WireSubscription) => (filter as { readonly kind: unknown }).kind;

/** The same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

afterEach(() => {
  vi.useRealTimers();
});

test.each([1, 2, 3, 4])(
  'holds exactly what a query answers, and hears of nothing twice: seed %i',
  { timeout: 30_000 },
  async (seed) => {
    const random = randomOf(seed);
    const world = await serveStreams();
    world.tellsNothingMissed = false;
    const model = new Model();
    let isQuiet = false;
    const begun = new Set<TestStream>();
    /** Streams that the model has answered and that still run, as the server sees it. */
    const open = () => {
      for (const stream of world.streams) {
        if (begun.has(stream)) continue;
        begun.add(stream);
        if (!stream.isClosed) model.begin(stream, isQuiet || random(2) === 0 ? Infinity : random(3));
      }
      return world.streams.filter((stream) => !stream.isClosed);
    };
    const ended = new Set<string>();
    const write = (streams: readonly TestStream[], id: string, after: Item | undefined) => {
      const row = model.write(id, after);
      for (const stream of streams) {
        const live = stream.subscriptions.filter(({ key }) => !ended.has(`${world.streams.indexOf(stream)} ${key}`));
        for (const each of live) model.tell(stream, each, row, model.log.length);
      }
    };
    const kinds = ['a', 'b', 'c'];
    const wrong: string[] = [];
    const subscriptions: { kind: string; limit: number; of: Subscription<Item & System> }[] = [];
    const subscribe = () => {
      const kind = kinds[random(3)] ?? '';
      const limit = [3, 100][random(2)] ?? 3;
      const onChange = ({ type, id, previous }: Change<Item>) => {
        // With all of them known, what enters was not there, and what changes or leaves was.
        if (limit === 100 && (previous === null) !== (type === 'enter')) wrong.push(`${type} of ${id}`);
      };
      const of = world.stoa.items
        .query<Item>('things')
        .eq('kind', kind)
        .ascending('rank')
        .limit(limit)
        .subscribe({ onChange });
      subscriptions.push({ kind, limit, of });
    };

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const change = () => {
      const streams = open();
      const id = `i${random(150)}`;
      write(streams, id, random(4) === 0 ? undefined : { _id: id, kind: kinds[random(3)] ?? '', rank: random(20) });
      const stream = streams[random(Math.max(1, streams.length))];
      const event = random(12);
      if (event === 0) stream?.cut();
      if (event === 1) stream?.end();
      if (event === 2 && stream !== undefined) {
        const { key } = stream.subscriptions[random(stream.subscriptions.length)] ?? { key: '' };
        ended.add(`${world.streams.indexOf(stream)} ${key}`);
        stream.send('resync', { key, reason: 'overload' });
      }
      if (event === 3) model.kept = model.log.length;
      if (event === 4 && subscriptions.length < 5) subscribe();
      if (event === 5 && subscriptions.length > 1) subscriptions.splice(random(subscriptions.length), 1)[0]?.of.close();
    };
    const settle = async () => {
      isQuiet = true;
      await until(() => {
        vi.advanceTimersByTime(1000);
        open();
        for (const { kind, limit, of } of subscriptions) {
          expect([of.status, of.items]).toEqual(['live', model.matching(kind).slice(0, limit)]);
        }
      });
      isQuiet = false;
    };
    const fill = () => {
      for (let n = 0; n < 150; n += 1)
        write(open(), `i${n}`, { _id: `i${n}`, kind: kinds[n % 3] ?? '', rank: random(20) });
    };

    fill();
    subscribe();
    for (let round = 0; round < 5; round += 1) {
      for (let step = 0; step < 50; step += 1) {
        change();
        if (random(3) === 0) await new Promise((done) => setImmediate(done));
        vi.advanceTimersByTime(random(400));
      }
      await settle();
      // More of them go than are known beyond the limit.
      fill();
      await settle();
      for (const kind of kinds) for (const { _id } of model.matching(kind).slice(0, 25)) write(open(), _id, undefined);
      await settle();
    }
    expect(wrong).toEqual([]);
  },
);
