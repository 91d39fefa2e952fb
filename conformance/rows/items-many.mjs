// Item calls beside the plain ones: patches, several items at once, truncate, distinct values, an order
// by chance, conditions, and cursor pagination.
import * as data from '@wix/data';
import { assert, failsWith, present, untyped } from '../lib/expect.mjs';
import { items as stored, shelf } from './shelf.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @typedef {{ dataItems: { data: { _id: string } }[], pagingMetadata: { cursors: { next: string } } }} RawPage */

/** @type {(method: string, check: string, run: (world: World) => unknown) => Row} */
const row = (method, check, run) => ({ method: `items.${method}`, check, required: true, compare: true, run });

/** Three items, fresh. @param {World} world */
export async function threeItems(world) {
  const id = await world.createCollection({
    fields: [
      { key: 'title', type: 'TEXT' },
      { key: 'n', type: 'NUMBER' },
    ],
  });
  await world.app.items.bulkInsert(id, [
    { _id: 'a', n: 1, kind: 'x' },
    { _id: 'b', n: 2, kind: 'x' },
    { _id: 'c', n: 3, kind: 'y' },
  ]);
  return id;
}

/** Waits until a job has ended. @param {World} world @param {string} jobId */
async function waitForJob(world, jobId) {
  for (let i = 0; i < 100; i += 1) {
    const { status } = await world.app.items.getAsyncJobStatus(jobId);
    if (status === 'SUCCEEDED') return;
    assert.notEqual(status, 'FAILED');
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error('the job did not end');
}

/** Items with words, fresh, once a search finds the last of them. @param {World} world */
async function searched(world) {
  const id = await world.createCollection({
    displayField: 'title',
    fields: [
      { key: 'title', type: 'TEXT' },
      { key: 'body', type: 'TEXT' },
      { key: 'n', type: 'NUMBER' },
    ],
  });
  await world.app.items.bulkInsert(id, [
    { _id: 'a', n: 1, title: 'a red car' },
    { _id: 'b', n: 2, title: 'a blue boat', body: 'beside a red car' },
    { _id: 'c', n: 3, title: 'Straße nach München' },
    { _id: 'd', n: 4, title: 'a red boat' },
  ]);
  await world.app.items.insert(id, { _id: 'z', n: 0, title: 'last' });
  for (let i = 0; i < 300; i += 1) {
    const { items } = await world.app.items.search(id).expression('last').run();
    if (items.length > 0) return id;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error('the last item is not found');
}

/** @param {{ _id?: string }[]} list */
const ids = (list) => list.map(({ _id }) => _id).join('');

/** @type {Row[]} */
export const rows = [
  row('search', 'words, one or all of them, the best first', async (world) => {
    const id = await searched(world);
    const search = world.app.items.search(id);
    assert.equal(ids((await search.expression('red').run()).items), 'adb');
    assert.equal(ids((await search.expression('blue car').andMode().run()).items), 'b');
    assert.equal(ids((await search.expression('blue car').orMode().run()).items), 'ba');
    assert.equal(ids((await search.expression('muenchen').run()).items), 'c');
    assert.equal(ids((await search.expression('munhcen').run()).items), '');
    assert.equal(ids((await search.expression('munhcen').fuzzy().run()).items), 'c');
    assert.equal(ids((await search.expression('stra*').run()).items), 'c');
    assert.equal(ids((await search.descending('n').run()).items), 'dcbaz');
  }),
  row('search', 'filter, order, fields and pages', async (world) => {
    const id = await searched(world);
    const red = world.app.items.search(id).expression('red');
    assert.equal(ids((await red.gt('n', 1).run()).items), 'db');
    assert.equal(ids((await red.descending('n').run()).items), 'dba');
    const shown = (await red.fields('n').limit(1).run()).items;
    assert.deepEqual(shown, [{ _id: 'a', n: 1 }]);
    const first = await red.limit(2).run();
    assert.deepEqual([ids(first.items), first.hasNext()], ['ad', true]);
    const second = await first.next();
    assert.deepEqual([ids(second.items), second.hasNext()], ['b', false]);
  }),
  row('search', 'a built request', async (world) => {
    const id = await searched(world);
    const { SearchBuilder, SearchParams, Filter } = data;
    const red = SearchBuilder()
      .withSearchClause(SearchParams('red').fields(['title']))
      .withFilter(Filter('n').lt(4))
      .withPaging({ limit: 1, offset: 0 })
      .build();
    const found = await world.app.items.search(id, red);
    assert.equal(ids(found.items), 'a');
    const wrong = { search: { expression: 'red', fields: ['n'] } };
    await failsWith(world.app.items.search(id, wrong), 'WDE0147');
  }),
  row('search', 'off for a collection', async (world) => {
    const off = { search: false, fields: [{ key: 'title', type: 'TEXT' }] };
    const id = await world.createCollection(untyped(off));
    await failsWith(world.app.items.search(id).expression('red').run(), 'WDE0190');
  }),
  row('patch', 'set, increment, remove, append', async (world) => {
    const id = await threeItems(world);
    const made = await world.app.items
      .patch(id, 'a')
      .setField('title', 't')
      .incrementField('n', 4)
      .removeField('kind')
      .setField('list', [1])
      .appendToArray('list', 2)
      .run();
    assert.deepEqual([made.title, made.n, made.kind, made.list], ['t', 5, undefined, [1, 2]]);
  }),
  row('bulkUpdate', 'replaces two, skips an unknown one', async (world) => {
    const id = await threeItems(world);
    const result = await world.app.items.bulkUpdate(id, [
      { _id: 'a', n: 9 },
      { _id: 'b', n: 9 },
      { _id: 'z', n: 9 },
    ]);
    assert.deepEqual([result.updated, result.skipped, result.errors.length], [2, 1, 0]);
    assert.equal((await world.app.items.get(id, 'a'))?.kind, undefined);
  }),
  row('bulkSave', 'inserts and updates', async (world) => {
    const id = await threeItems(world);
    const result = await world.app.items.bulkSave(id, [{ _id: 'a', n: 9 }, { _id: 'new' }, { n: 4 }]);
    assert.deepEqual([result.inserted, result.updated, result.errors.length], [2, 1, 0]);
  }),
  row('bulkRemove', 'removes two, skips an unknown one', async (world) => {
    const id = await threeItems(world);
    const result = await world.app.items.bulkRemove(id, ['a', 'b', 'z']);
    assert.deepEqual([result.removed, result.skipped], [2, 1]);
    assert.equal(await world.app.items.count(id), 1);
  }),
  row('bulkPatch', 'changes two', async (world) => {
    const id = await threeItems(world);
    const result = await world.app.items.bulkPatch(id, ['a', 'b']).incrementField('n', 10).run();
    assert.equal(result.updated, 2);
    assert.equal((await world.app.items.get(id, 'b'))?.n, 12);
  }),
  row('truncate', 'empties', async (world) => {
    const id = await threeItems(world);
    await world.app.items.truncate(id);
    assert.equal(await world.app.items.count(id), 0);
  }),
  row('distinct', 'the values of a field', async (world) => {
    const result = await world.app.items.distinct(await threeItems(world), 'kind');
    assert.deepEqual([...result.values].sort(), ['x', 'y'], JSON.stringify(result));
  }),
  row('query', 'distinct by the builder, in order', async (world) => {
    const result = await world.app.items
      .query(await threeItems(world))
      .descending('kind')
      .distinct('kind');
    assert.deepEqual(result.items, ['y', 'x']);
  }),
  row('query', 'random order by seed is the same twice', async (world) => {
    const query = () => world.app.items.query(shelfId).randomSort({ seed: 7 }).find();
    const shelfId = await shelf(world);
    const [first, second] = [await query(), await query()];
    assert.equal(ids(first.items), ids(second.items));
    assert.notEqual(ids(first.items), 'abcdefghijkl');
  }),
  row('patch', 'dotted paths, one element of a list, several in order', async (world) => {
    const id = await threeItems(world);
    const made = await world.app.items
      .patch(id, 'a')
      .setField('o.p', [1, 2, 1])
      .removeFromArray('o.p', 1)
      .setField('o.q', new Date(0))
      .incrementField('o.n', 2)
      .incrementField('o.n', -0.5)
      .run();
    assert.deepEqual(made.o, { p: [2, 1], q: new Date(0), n: 1.5 });
    await failsWith(world.app.items.patch(id, 'a').incrementField('kind', 1).run(), 'WDE0080');
    await failsWith(world.app.items.patch(id, 'no-such-item').setField('n', 1).run(), 'WDE0073');
  }),
  row('update', 'only under its condition', async (world) => {
    const id = await threeItems(world);
    await failsWith(world.app.items.update(id, { _id: 'a', n: 9 }, { condition: { n: 5 } }), 'WDE0073');
    assert.equal((await world.app.items.update(id, { _id: 'a', n: 9 }, { condition: { n: 1 } })).n, 9);
    assert.equal(await world.app.items.remove(id, 'a', { condition: { n: 1 } }), null);
    assert.equal((await world.app.items.remove(id, 'a', { condition: { n: 9 } }))?.n, 9);
  }),
  row('query', 'cursor pagination, forward and back', async (world) => {
    // The client has no call that asks for the first cursor, so the first page is asked for by hand.
    const id = await shelf(world);
    /** @param {object} query @returns {Promise<RawPage>} */
    const ask = async (query) => {
      const body = JSON.stringify({ dataCollectionId: id, query });
      const response = await world.app.fetchWithAuth('https://www.wixapis.com/wix-data/v2/items/query', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      assert.equal(response.status, 200, await response.clone().text());
      return response.json();
    };
    const first = await ask({
      cursorPaging: { limit: 5 },
      sort: [{ fieldName: 'n', order: 'DESC' }],
      filter: { n: { $ne: 3 } },
    });
    assert.deepEqual(Object.keys(first.pagingMetadata.cursors), ['next']);
    const page = async (/** @type {string} */ cursor) =>
      world.app.items.query(id, { cursorPaging: { limit: 5, cursor } });
    const second = await page(first.pagingMetadata.cursors.next);
    const third = await page(present(second.pagingMetadata.cursors?.next));
    const back = await page(present(second.pagingMetadata.cursors?.prev));
    assert.equal(ids(back.items), ids(first.dataItems.map(({ data }) => data)));
    const all = ids(back.items) + ids(second.items) + ids(third.items);
    assert.equal(
      [...all].sort().join(''),
      stored
        .map(({ _id }) => _id)
        .filter((id) => id !== 'c')
        .sort()
        .join(''),
    );
    assert.ok(!third.pagingMetadata.cursors?.next && !third.pagingMetadata.hasNext);
    return all;
  }),
  row('aggregate', 'groups, sums and counts', async (world) => {
    const result = await world.app.items
      .aggregate(await threeItems(world))
      .group('kind')
      .sum('n', 'total')
      .count()
      .ascending('total')
      .run();
    /** @type {Record<string, unknown>[]} */
    const groups = result.items;
    assert.deepEqual(
      groups.map((group) => [group._id, group.total, group.count]),
      [
        ['x', 3, 2],
        ['y', 3, 1],
      ],
    );
  }),
  row('aggregatePipeline', 'filter, group, sort', async (world) => {
    const pipeline = {
      stages: [
        { filter: { n: { $gt: 0 } } },
        {
          group: {
            groupIds: [{ key: 'kind', expression: { fieldPath: 'kind' } }],
            accumulators: [{ resultFieldName: 'total', sum: { expression: { fieldPath: 'n' } } }],
          },
        },
        { sort: { values: [{ fieldName: '_id.kind', order: 'DESC' }] } },
      ],
    };
    const { results } = await world.app.items.aggregatePipeline(await threeItems(world), untyped(pipeline));
    assert.deepEqual(
      results?.map((group) => group.total),
      [3, 3],
    );
  }),
  row('asyncPatchByFilter', 'a job changes what fits', async (world) => {
    const id = await threeItems(world);
    const { jobId } = await world.app.items.asyncPatchByFilter(id, { kind: 'x' }, [
      { action: 'SET_FIELD', fieldPath: 'n', value: 0 },
    ]);
    await waitForJob(world, jobId);
    assert.equal((await world.app.items.get(id, 'b'))?.n, 0);
  }),
  row('asyncRemoveByFilter', 'a job removes what fits', async (world) => {
    const id = await threeItems(world);
    await waitForJob(world, (await world.app.items.asyncRemoveByFilter(id, { kind: 'x' })).jobId);
    assert.equal(await world.app.items.count(id), 1);
  }),
  row('getAsyncJobStatus', 'of a job', async (world) => {
    const { jobId } = await world.app.items.asyncRemoveByFilter(await threeItems(world), { kind: 'x' });
    assert.match(String((await world.app.items.getAsyncJobStatus(jobId)).status), /INITIALIZED|PROCESSING|SUCCEEDED/);
  }),
];
