// The twelve items that the query rows read: every kind of value, values of the wrong kind, null,
// missing, and text that trips a careless engine.

/** @import { World } from '../lib/world.mjs' */

const D1 = new Date('2024-01-01T00:00:00.000Z');
const D2 = new Date('2024-02-01T00:00:00.000Z');
const D3 = new Date('2024-03-05T06:07:08.009Z');
const D4 = new Date('2025-01-01T00:00:00.000Z');

export const dates = { D1, D2, D3, D4 };

export const items = [
  { _id: 'a', title: 'Alpha', n: 1, flag: true, when: D1, tags: ['red', 'blue'], nums: [1, 2], o: { p: { q: 1 } } },
  { _id: 'b', title: 'beta', n: 2, flag: false, when: D2, tags: ['red'], nums: [3], o: { p: { q: 2 } } },
  { _id: 'c', title: 'Gamma ray', n: 3, when: D3, tags: [], o: { p: { q: '1' } } },
  { _id: 'd', title: 'alphabet', n: '3', flag: true, tags: 'red' },
  { _id: 'e', title: '', n: -4.5, when: D1.toISOString() },
  { _id: 'f', title: null, n: null, tags: ['green', 'blue', 'red'] },
  { _id: 'g', n: 0 },
  { _id: 'h', title: 'ÄPFEL', n: 1e15, flag: true, when: D4, rows: [{ k: 1 }, { k: 2 }] },
  { _id: 'i', title: '100%', n: 10, o: { p: 1 } },
  { _id: 'j', title: "it's _x_", n: 9007199254740991, rows: [{ k: 3 }] },
  { _id: 'k', title: 'hello-World', n: 5 },
  { _id: 'l', title: 'Hello  world', n: 5.5 },
];

/** Every id but those named. @param {string} ids */
export const without = (ids) =>
  items
    .map(({ _id }) => _id)
    .filter((id) => !ids.includes(id))
    .join('');

/** A collection with the twelve items, made once. @param {World} world @returns {Promise<string>} */
export function shelf(world) {
  return world.once('shelf', async () => {
    const id = await world.createCollection({
      fields: [
        { key: 'title', type: 'TEXT' },
        { key: 'n', type: 'NUMBER' },
        { key: 'flag', type: 'BOOLEAN' },
        { key: 'when', type: 'DATETIME' },
        { key: 'tags', type: 'ARRAY_STRING' },
        { key: 'nums', type: 'ARRAY' },
        { key: 'o', type: 'OBJECT' },
        { key: 'rows', type: 'ARRAY' },
      ],
    });
    const result = await world.app.items.bulkInsert(
      id,
      items.map((item) => ({ ...item })),
    );
    if (result.inserted !== items.length) throw new Error(`the shelf was not filled: ${JSON.stringify(result)}`);
    return id;
  });
}
