import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { decode } from '../src/json.ts';
import { type WireSort, comparison, newestFirst } from '../src/order.ts';
import { Window } from '../src/window.ts';

interface Item {
  readonly _id: string;
  readonly [name: string]: unknown;
}

/** The sort and what comes out of it in a golden case of the server's own query language. */
function goldenCase(name: string): { items: Item[]; sort: WireSort[]; ids: string[] } {
  const read = (file: string) =>
    readFileSync(new URL(`../../../../crates/query/cases/${file}`, import.meta.url), 'utf8');
  const text = read(`${name}.case`);
  const sections = new Map(
    text
      .split(/^== /m)
      .slice(1)
      .map((each) => [each.slice(0, each.indexOf('\n')).trim(), each.slice(each.indexOf('\n') + 1).trim()]),
  );
  const itemsOf = (lines: string) =>
    lines
      .trim()
      .split('\n')
      .map((line) => decode(JSON.parse(line)) as Item);
  const { query } = JSON.parse(sections.get('request') ?? '') as {
    query: { sort: { fieldName: string; order?: 'ASC' | 'DESC' }[] };
  };
  return {
    items: itemsOf(sections.get('items') ?? read('items.jsonl')),
    sort: query.sort.map(({ fieldName, order = 'ASC' }) => ({ fieldName, order })),
    ids: itemsOf(sections.get('rows') ?? '').map(({ _id }) => _id),
  };
}

describe('order', () => {
  test.each(['sort_one_order', 'sort_descending', 'sort_ascending_arrays', 'sort_dotted', 'sort_ends_with_id'])(
    'is the server’s: %s',
    (name) => {
      const { items, sort, ids } = goldenCase(name);
      expect(ids.length).toBeGreaterThan(2);
      expect(
        [...items]
          .reverse()
          .sort(comparison(sort))
          .map(({ _id }) => _id),
      ).toEqual(ids);
    },
  );

  test('names from the prototype are no members', () => {
    const compare = comparison([{ fieldName: 'constructor.name', order: 'ASC' }]);
    expect(compare({ _id: 'a' }, { _id: 'b' })).toBeLessThan(0);
  });
});

describe('window', () => {
  const byRank: WireSort[] = [{ fieldName: 'rank', order: 'ASC' }];
  const item = (rank: number, id = `i${rank}`): Item => ({ _id: id, rank });
  const ranks = (window: Window) => window.items.map((each) => (each as Item)['rank']);
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => item(from + n));

  test('asks for some more than it shows, but never for more than may be asked for', () => {
    expect(new Window(50, newestFirst).asked).toBe(70);
    expect(new Window(990, newestFirst).asked).toBe(1000);
    // Refused by the server, in its own words.
    expect(new Window(1500, newestFirst).asked).toBe(1500);
  });

  test('all are known: items come, move and go, and the limit holds', () => {
    const window = new Window(3, byRank);
    window.replace([item(5), item(1)]);
    expect([ranks(window), window.hasMore, window.isShort]).toEqual([[1, 5], false, false]);
    window.put(item(3));
    window.put(item(4));
    expect([ranks(window), window.hasMore]).toEqual([[1, 3, 4], true]);
    window.put(item(9, 'i1'));
    expect(ranks(window)).toEqual([3, 4, 5]);
    window.remove('i4');
    window.remove('i4');
    expect([ranks(window), window.hasMore, window.isShort]).toEqual([[3, 5, 9], false, false]);
  });

  test('not all are known: what stands behind the edge is not guessed', () => {
    const window = new Window(2, byRank);
    window.replace(range(0, 22));
    window.put(item(50));
    for (let n = 0; n < 20; n += 1) window.remove(`i${n}`);
    expect([ranks(window), window.isShort]).toEqual([[20, 21], false]);
    // Moves to somewhere behind the edge, where others may be before it.
    window.put(item(60, 'i20'));
    expect([ranks(window), window.isShort, window.hasMore]).toEqual([[21], true, true]);
    window.replace([item(21), item(30)]);
    expect([ranks(window), window.isShort, window.hasMore]).toEqual([[21, 30], false, false]);
  });

  test('holds a bounded number, however many come', () => {
    const window = new Window(2, byRank);
    window.replace([]);
    for (const each of range(0, 1000).reverse()) window.put(each);
    expect(ranks(window)).toEqual([0, 1]);
    for (let n = 0; n < 22; n += 1) window.remove(`i${n}`);
    // Of 44 at most, some were forgotten; it knows that it does not know them.
    for (let n = 22; n < 44; n += 1) window.remove(`i${n}`);
    expect(window.isShort).toBe(true);
  });

  test('random changes: what is shown is what a query gives, or it says that something is missing', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 25; round += 1) {
      const all = new Map<string, Item>();
      const sorted = () => [...all.values()].sort(comparison(byRank));
      const window = new Window(1 + random(5), byRank);
      for (let n = random(60); n > 0; n -= 1) all.set(`i${n}`, item(random(30), `i${n}`));
      window.replace(sorted().slice(0, window.asked));
      for (let step = 0; step < 200; step += 1) {
        const id = `i${random(60)}`;
        if (random(3) === 0) {
          all.delete(id);
          window.remove(id);
        } else {
          const next = item(random(30), id);
          all.set(id, next);
          window.put(next);
        }
        if (window.isShort) window.replace(sorted().slice(0, window.asked));
        const shown = window.items.length;
        expect(window.items).toEqual(sorted().slice(0, shown));
        expect(window.hasMore).toBe(all.size > shown);
      }
    }
  });
});
