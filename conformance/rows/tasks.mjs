// Tasks: work on many items in the background, and what is published at a time.
import { assert, codeOf, failure, present, undocumented, untyped } from '../lib/expect.mjs';
import { threeItems } from './items-many.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */
/** @import { tasks } from '@wix/data' */

/** @type {(method: string, check: string, run: (world: World) => unknown) => Row} */
const row = (method, check, run) => ({ method: `tasks.${method}`, check, required: true, compare: true, run });

/** A task once it is so. @param {World} world @param {string | undefined} id @param {(task: tasks.Task) => boolean} isSo */
async function until(world, id, isSo) {
  const end = Date.now() + 30_000;
  for (;;) {
    const task = await world.app.tasks.getTask(present(id));
    if (isSo(task)) return task;
    assert.ok(Date.now() < end, `the task stands still: ${JSON.stringify(task)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @param {World} world @param {{ _id?: string }} task */
const ended = (world, task) => until(world, task._id, (it) => it.finishedAt instanceof Date);

/** Three items, which are drafts unless something else is said. @param {World} world */
async function drafts(world) {
  const id = await threeItems(world);
  await undocumented(world.app.collections).addPublishPlugin(id, { publishOptions: { defaultStatus: 'DRAFT' } });
  return id;
}

/** @param {World} world @param {string} id */
const seen = (world, id) => world.visitor().items.count(id);

/** @param {World} world @param {string} id @param {object} options */
const setStatus = (world, id, options) =>
  world.app.tasks.createTask({
    type: 'UPDATE_PUBLISH_STATUS',
    updatePublishStatusOptions: untyped({ dataCollectionId: id, environment: 'LIVE', ...options }),
  });

/** @param {World} world @param {string} id @param {Date} date */
const publishAt = (world, id, date) =>
  setStatus(world, id, {
    filter: { _id: 'a' },
    operation: 'SCHEDULE_PUBLISHED_STATUS',
    schedulePublishedStatusOptions: { date },
  });

const HOUR = 3_600_000;

/** @type {Row[]} */
export const rows = [
  row('createTask', 'DELETE_BY_QUERY removes what fits', async (world) => {
    const id = await threeItems(world);
    const task = await world.app.tasks.createTask({
      type: 'DELETE_BY_QUERY',
      deleteByQueryOptions: { dataCollectionId: id, environment: 'LIVE', filter: { kind: 'x' } },
    });
    assert.match(String(task.status), /NEW|RUNNING|COMPLETED/);
    const { status, itemsSucceeded = 0, itemsFailed, failures } = await ended(world, task);
    assert.deepEqual([status, itemsFailed, failures], ['COMPLETED', 0, []]);
    assert.equal(await world.app.items.count(id), 3 - itemsSucceeded);
    return itemsSucceeded;
  }),
  row('createTask', 'EDIT_FIELD_DATA and COPY_FIELD_DATA change a field', async (world) => {
    const id = await threeItems(world);
    const copied = await world.app.tasks.createTask({
      type: 'COPY_FIELD_DATA',
      copyFieldDataOptions: {
        dataCollectionId: id,
        environment: 'LIVE',
        sourceFieldKey: 'kind',
        targetFieldKey: 'title',
      },
    });
    assert.equal((await ended(world, copied)).status, 'COMPLETED');
    const edited = await world.app.tasks.createTask({
      type: 'EDIT_FIELD_DATA',
      editFieldDataOptions: {
        dataCollectionId: id,
        environment: 'LIVE',
        filter: {},
        fieldKey: 'title',
        operations: { replaceItems: [{ from: 'x', to: 'replaced' }] },
      },
    });
    assert.equal((await ended(world, edited)).status, 'COMPLETED');
    const found = await world.app.items.query(id).eq('kind', 'x').find();
    assert.ok(found.items.length > 0 && found.items.every((it) => it['title'] === 'replaced'));
  }),
  row('createTask', 'UPDATE_PUBLISH_STATUS publishes and takes back', async (world) => {
    const id = await drafts(world);
    assert.equal(await seen(world, id), 0);
    await ended(world, await setStatus(world, id, { filter: {}, operation: 'SET_PUBLISHED_STATUS' }));
    assert.equal(await seen(world, id), 3);
    await ended(world, await setStatus(world, id, { filter: { _id: 'b' }, operation: 'SET_DRAFT_STATUS' }));
    assert.equal(await seen(world, id), 2);
  }),
  row('createTask', 'UPDATE_PUBLISH_STATUS publishes at a time', async (world) => {
    const id = await drafts(world);
    const task = await publishAt(world, id, new Date(Date.now() + 3_000));
    await until(world, task._id, (it) => it.estimatedItemCount === 1 && it.itemsSucceeded === 0);
    assert.equal(await seen(world, id), 0);
    const { status, itemsSucceeded } = await ended(world, task);
    assert.deepEqual([status, itemsSucceeded, await seen(world, id)], ['COMPLETED', 1, 1]);
  }),
  row('createTask', 'CANCEL_SCHEDULING leaves drafts', async (world) => {
    const id = await drafts(world);
    const date = new Date(Date.now() + HOUR);
    const task = await publishAt(world, id, date);
    await until(world, task._id, (it) => it.estimatedItemCount === 1);
    const marked = await world.app.items.get(id, 'a', { showDrafts: true });
    assert.deepEqual(marked?.['_publishDate'], date);
    const cancelled = await ended(world, await setStatus(world, id, { filter: {}, operation: 'CANCEL_SCHEDULING' }));
    assert.equal(cancelled.itemsSucceeded, 1);
    assert.equal((await world.app.items.get(id, 'a', { showDrafts: true }))?.['_publishDate'], undefined);
  }),
  row('createTask', 'is not for visitors', async (world) => {
    const id = await drafts(world);
    const options = { dataCollectionId: id, environment: /** @type {const} */ ('LIVE') };
    const asked = world.visitor().tasks.createTask({
      type: 'UPDATE_PUBLISH_STATUS',
      updatePublishStatusOptions: { ...options, operation: 'SET_PUBLISHED_STATUS' },
    });
    const error = await failure(asked);
    assert.equal(world.recorder.last().status, 403, `${codeOf(error)} ${error.message}`);
  }),
  row('listTasks', 'the newest first', async (world) => {
    const id = await drafts(world);
    const task = await publishAt(world, id, new Date(Date.now() + HOUR));
    const { tasks, metadata } = await world.app.tasks.listTasks({ paging: { limit: 1 } });
    assert.equal(tasks?.[0]?._id, task._id);
    assert.equal(metadata?.count, 1);
    assert.equal((await world.app.tasks.listTasks({ paging: { limit: 1, offset: 1 } })).metadata?.offset, 1);
  }),
  row('getTask', 'has its options', async (world) => {
    const id = await drafts(world);
    const date = new Date(Date.now() + HOUR);
    const task = await world.app.tasks.getTask(present((await publishAt(world, id, date))._id));
    assert.equal(task.type, 'UPDATE_PUBLISH_STATUS');
    assert.deepEqual(task.updatePublishStatusOptions?.schedulePublishedStatusOptions?.date, date);
  }),
  row('cancelTask', 'leaves what was to be published', async (world) => {
    const id = await drafts(world);
    const made = await publishAt(world, id, new Date(Date.now() + HOUR));
    const { task } = await world.app.tasks.cancelTask(present(made._id));
    assert.deepEqual([task?.status, task?.failures?.[0]?.code], ['FAILED', 'CANCELLED']);
    await ended(world, made);
    assert.equal((await world.app.items.get(id, 'a', { showDrafts: true }))?.['_publishDate'], undefined);
  }),
];
