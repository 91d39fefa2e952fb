// Item calls on drafts, and the sandbox.
import { assert, codeOf, failure, undocumented, untyped } from '../lib/expect.mjs';
import { threeItems } from './items-many.mjs';
import { shelf } from './shelf.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @type {(method: string, check: string, run: (world: World) => unknown) => Row} */
const row = (method, check, run) => ({ method: `items.${method}`, check, required: true, compare: true, run });

/** A collection with drafts of its own. @param {World} world */
async function withDrafts(world) {
  const id = await threeItems(world);
  await undocumented(world.app.collections).addDraftItemsPlugin(id, { draftItemsOptions: {} });
  return id;
}

/** @type {Row[]} */
export const rows = [
  row('withEnvironment', 'SANDBOX is not for visitors', async (world) => {
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
  row('createDataItemDraft', 'copies', async (world) => {
    const id = await withDrafts(world);
    assert.equal((await world.app.items.createDataItemDraft(id, 'a'))._id, 'a');
    assert.equal((await world.app.items.get(`${id}__drafts`, 'a'))?._id, 'a');
  }),
  row('publishDataItemDraft', 'takes the place of the published item', async (world) => {
    const id = await withDrafts(world);
    await world.app.items.createDataItemDraft(id, 'a');
    await world.app.items.save(`${id}__drafts`, { _id: 'a', title: 'published' });
    assert.equal((await world.app.items.publishDataItemDraft(id, 'a'))._id, 'a');
    assert.equal((await world.app.items.get(id, 'a'))?.title, 'published');
    assert.equal(await world.app.items.get(`${id}__drafts`, 'a'), null);
  }),
  row('unpublishDataItem', 'leaves a draft', async (world) => {
    const id = await withDrafts(world);
    assert.equal((await world.app.items.unpublishDataItem(id, 'a', { copyToDraft: true }))?._id, 'a');
    assert.equal(await world.visitor().items.get(id, 'a'), null);
    assert.equal((await world.app.items.get(`${id}__drafts`, 'a'))?._id, 'a');
  }),
];
