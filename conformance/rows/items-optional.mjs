// Item calls that are not required yet. Each does its work once and looks at the result, so that it
// says `works` on the day it does.
import { assert, codeOf, failure, undocumented, untyped } from '../lib/expect.mjs';
import { threeItems } from './items-many.mjs';
import { shelf } from './shelf.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @type {(method: string, check: string, run: (world: World) => unknown) => Row} */
const optional = (method, check, run) => ({ method: `items.${method}`, check, compare: true, run });

/** A collection with drafts. @param {World} world */
async function withDrafts(world) {
  const id = await threeItems(world);
  await undocumented(world.app.collections).addDraftItemsPlugin(id, { draftItemsOptions: {} });
  return id;
}

/** @type {Row[]} */
export const rows = [
  optional('search', 'finds words', async (world) => {
    const id = await world.createCollection();
    await world.app.items.bulkInsert(id, [
      { _id: 'a', title: 'a red car' },
      { _id: 'b', title: 'a blue boat' },
    ]);
    await new Promise((done) => setTimeout(done, 1500));
    const result = await world.app.items.search(id).expression('red').run();
    assert.deepEqual(
      result.items.map((item) => item._id),
      ['a'],
    );
  }),
  optional('withEnvironment', 'SANDBOX is not for visitors', async (world) => {
    const error = await failure(
      world
        .visitor()
        .items.withEnvironment(untyped('SANDBOX'))
        .query(await shelf(world))
        .find(),
    );
    assert.match(String(codeOf(error)), /^WDE0(027|179)$/, error.message);
    assert.equal(world.recorder.last().status, 403);
  }),
  optional('createDataItemDraft', 'copies', async (world) => {
    assert.equal((await world.app.items.createDataItemDraft(await withDrafts(world), 'a'))._id, 'a');
  }),
  optional('publishDataItemDraft', 'takes the place of the published item', async (world) => {
    const id = await withDrafts(world);
    await world.app.items.createDataItemDraft(id, 'a');
    assert.equal((await world.app.items.publishDataItemDraft(id, 'a'))._id, 'a');
  }),
  optional('unpublishDataItem', 'leaves a draft', async (world) => {
    const id = await withDrafts(world);
    await world.app.items.unpublishDataItem(id, 'a', { copyToDraft: true });
    assert.equal(await world.visitor().items.get(id, 'a'), null);
  }),
];
