// Indexes: made, listed, counted and dropped; what a unique one refuses, as the items client sees it.
import { assert, codeOf, failure, member, undocumented } from '../lib/expect.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @type {(name: string, check: string, run: (world: World, id: string) => Promise<void>) => Row} */
const row = (name, check, run) => ({
  method: `indexes.${name}`,
  check,
  required: true,
  run: async (world) => run(world, await world.createCollection()),
});

/** The index once it is built. @param {World} world @param {string} id @param {string} name */
async function built(world, id, name) {
  for (let wait = 0; wait < 200; wait += 1) {
    const { indexes } = await world.app.indexes.listIndexes(id);
    const index = indexes?.find((index) => index.name === name);
    if (index?.status !== 'BUILDING') return index;
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  throw new Error(`the index ${name} is still being built`);
}

/** The application code with which a call was refused. @param {Promise<unknown>} promise */
const refusal = async (promise) => codeOf(await failure(promise));

/** @type {Row[]} */
export const rows = [
  row('createIndex', 'gives back the index, which becomes active', async (world, id) => {
    const made = await world.app.indexes.createIndex(id, {
      name: 'by-title',
      fields: [{ path: 'title', order: 'ASC' }],
    });
    assert.equal(made.name, 'by-title');
    assert.equal(made.source, 'USER');
    assert.ok(made._id);
    assert.equal((await built(world, id, 'by-title'))?.status, 'ACTIVE');
  }),
  row('createIndex', 'a unique one refuses a value that is there, item by item', async (world, id) => {
    await world.app.indexes.createIndex(id, { name: 'only', fields: [{ path: 'code' }], unique: true });
    assert.equal((await built(world, id, 'only'))?.status, 'ACTIVE');
    const { items } = world.app;
    await items.insert(id, { _id: 'a', code: 1 });
    assert.equal(await refusal(items.insert(id, { _id: 'b', code: 1 })), 'WDE0123');
    const result = await items.bulkInsert(id, [
      { _id: 'c', code: 2 },
      { _id: 'd', code: 1 },
      { _id: 'e', code: 2 },
    ]);
    assert.equal(result.inserted, 1);
    assert.deepEqual(
      result.errors.map((error) => error.originalIndex),
      [1, 2],
    );
    assert.equal(await refusal(items.update(id, { _id: 'c', code: 1 })), 'WDE0123');
    assert.equal(await refusal(items.save(id, { _id: 'f', code: 2 })), 'WDE0123');
  }),
  row('createIndex', 'a unique one over equal values fails and names an item', async (world, id) => {
    await world.app.items.bulkInsert(id, [
      { _id: 'a', code: 1 },
      { _id: 'b', code: 1 },
    ]);
    await world.app.indexes.createIndex(id, { name: 'only', fields: [{ path: 'code' }], unique: true });
    const index = await built(world, id, 'only');
    assert.equal(index?.status, 'FAILED');
    assert.equal(index?.failure?.code, 'WDE0113');
    assert.equal(index?.failure?.itemId, 'b');
  }),
  row('listIndexes', 'the system ones and mine', async (world, id) => {
    await world.app.indexes.createIndex(id, { name: 'by-title', fields: [{ path: 'title' }] });
    const { indexes, pagingMetadata } = await world.app.indexes.listIndexes(id);
    const names = indexes?.map((index) => `${index.source} ${index.name}`);
    assert.deepEqual(names, ['SYSTEM _id', 'SYSTEM _createdDate', 'SYSTEM _owner', 'USER by-title']);
    assert.equal(pagingMetadata?.total, 4);
    const page = await world.app.indexes.listIndexes(id, { paging: { limit: 1, offset: 3 } });
    assert.deepEqual(
      page.indexes?.map((index) => index.name),
      ['by-title'],
    );
  }),
  row('listAvailableIndexes', 'three regular and one unique, less those there are', async (world, id) => {
    await world.app.indexes.createIndex(id, { name: 'by-title', fields: [{ path: 'title' }] });
    const left = await undocumented(world.app.indexes).listAvailableIndexes(id);
    const numbers = ['regular3Field', 'unique1Field', 'total'].map((name) => member(left, name));
    assert.deepEqual(numbers, [2, 1, 3]);
    for (const path of ['a', 'b']) await world.app.indexes.createIndex(id, { name: path, fields: [{ path }] });
    assert.equal(await refusal(world.app.indexes.createIndex(id, { name: 'c', fields: [{ path: 'c' }] })), 'WDE0160');
  }),
  row('dropIndex', 'even while it is built, and its place is free', async (world, id) => {
    await world.app.indexes.createIndex(id, { name: 'by-title', fields: [{ path: 'title' }] });
    await world.app.indexes.dropIndex(id, 'by-title');
    const left = await undocumented(world.app.indexes).listAvailableIndexes(id);
    assert.equal(member(left, 'regular3Field'), 3);
    assert.equal(await refusal(world.app.indexes.dropIndex(id, 'none')), 'WDE0176');
  }),
];
