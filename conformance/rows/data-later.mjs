// The other data modules, none of them required yet: tasks, backups, movement
// jobs, sharing, external connections, scheduled workflows. A row is the call with plausible
// arguments; where the answer is known, it is looked at.
import { assert, present, untyped } from '../lib/expect.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @type {(method: string, run: (world: World, id: string) => unknown, check?: string) => Row} */
const later = (method, run, check = 'answers') => ({
  method,
  check,
  run: async (world) => run(world, await world.createCollection()),
});

/** @param {World} world @param {string} id */
const task = (world, id) =>
  world.app.tasks.createTask({
    type: 'DELETE_BY_QUERY',
    deleteByQueryOptions: { dataCollectionId: id, environment: 'LIVE', filter: {} },
  });

/** @param {World} world @param {string} id */
const job = (world, id) =>
  world.app.movementJobs.submitJob(
    { wixDataCollection: { collectionId: id } },
    { file: { format: 'CSV' } },
    { name: 'run' },
  );

/** @param {World} world @param {string} id */
const policy = (world, id) =>
  world.app.sharing.createDataSharingPolicy({ dataSharingPolicy: { dataCollectionId: id } });

const CONNECTION = { name: 'connection', endpoint: 'https://elsewhere.example/', configuration: {} };
const WORKFLOW = { _id: 'workflow', workflow: { steps: [] } };

/** @type {Row[]} */
export const rows = [
  later('tasks.createTask', task),
  later(
    'tasks.listTasks',
    async (world) => assert.ok(Array.isArray((await world.app.tasks.listTasks()).tasks)),
    'a list',
  ),
  later('tasks.getTask', async (world, id) => {
    const made = await task(world, id);
    await world.app.tasks.getTask(present(made._id));
  }),
  later('tasks.cancelTask', async (world, id) => {
    const made = await task(world, id);
    await world.app.tasks.cancelTask(present(made._id));
  }),
  later('backups.createBackup', (world) => world.app.backups.createBackup()),
  later(
    'backups.listBackups',
    async (world) => assert.ok(Array.isArray((await world.app.backups.listBackups()).backups)),
    'a list',
  ),
  later(
    'backups.listRestorations',
    async (world) => assert.ok(Array.isArray((await world.app.backups.listRestorations()).restorations)),
    'a list',
  ),
  later('backups.restoreBackup', async (world) => {
    const made = await world.app.backups.createBackup();
    await world.app.backups.restoreBackup(present(made.backup?._id));
  }),
  later('backups.restorePartialBackup', async (world, id) => {
    const made = await world.app.backups.createBackup();
    await world.app.backups.restorePartialBackup(present(made.backup?._id), [{ dataCollectionId: id }]);
  }),
  later('backups.deleteBackup', async (world) => {
    const made = await world.app.backups.createBackup();
    await world.app.backups.deleteBackup(present(made.backup?._id));
  }),
  later('movementJobs.submitJob', job),
  later(
    'movementJobs.createFileUploadUrl',
    async (world) => assert.ok((await world.app.movementJobs.createFileUploadUrl({ fileName: 'a.csv' })).uploadUrl),
    'gives an address',
  ),
  later('movementJobs.getJob', async (world, id) => {
    const made = await job(world, id);
    await world.app.movementJobs.getJob(present(made.job?._id));
  }),
  later(
    'movementJobs.listJobs',
    async (world) => assert.ok(Array.isArray((await world.app.movementJobs.listJobs()).jobs)),
    'a list',
  ),
  later('movementJobs.queryJobs', (world) => world.app.movementJobs.queryJobs().find()),
  later('movementJobs.terminateJob', async (world, id) => {
    const made = await job(world, id);
    await world.app.movementJobs.terminateJob(present(made.job?._id));
  }),
  later('movementJobs.listMovementLogs', async (world, id) => {
    const made = await job(world, id);
    await world.app.movementJobs.listMovementLogs(present(made.job?._id));
  }),
  later('sharing.createDataSharingPolicy', policy),
  later('sharing.updateDataSharingPolicy', async (world, id) => {
    const made = await policy(world, id);
    await world.app.sharing.updateDataSharingPolicy(present(made._id), {});
  }),
  later('sharing.deleteDataSharingPolicy', async (world, id) => {
    const made = await policy(world, id);
    await world.app.sharing.deleteDataSharingPolicy(present(made._id));
  }),
  later('sharing.getDataSharingPolicy', async (world, id) => {
    const made = await policy(world, id);
    await world.app.sharing.getDataSharingPolicy(present(made._id));
  }),
  later('sharing.listDataSharingPolicies', (world) => world.app.sharing.listDataSharingPolicies()),
  later('sharing.listSharedDataCollections', (world) => world.app.sharing.listSharedDataCollections()),
  later('sharing.bulkGetSharedCollectionStats', (world, id) =>
    world.app.sharing.bulkGetSharedCollectionStats(untyped({ dataCollectionIds: [id] })),
  ),
  later('sharing.connectToSharedCollection', (world) =>
    world.app.sharing.connectToSharedCollection('namespace', { dataSharingPolicyId: world.id() }),
  ),
  later('sharing.disconnectFromSharedCollection', (world, id) =>
    world.app.sharing.disconnectFromSharedCollection({ dataCollectionId: id }),
  ),
  later('externalDatabaseConnections.listExternalDatabaseConnections', (world) =>
    world.app.externalDatabaseConnections.listExternalDatabaseConnections(),
  ),
  later('externalDatabaseConnections.createExternalDatabaseConnection', (world) =>
    world.app.externalDatabaseConnections.createExternalDatabaseConnection(CONNECTION, 'STANDALONE'),
  ),
  later('externalDatabaseConnections.getExternalDatabaseConnection', (world) =>
    world.app.externalDatabaseConnections.getExternalDatabaseConnection('connection'),
  ),
  later('externalDatabaseConnections.updateExternalDatabaseConnection', (world) =>
    world.app.externalDatabaseConnections.updateExternalDatabaseConnection('connection', CONNECTION),
  ),
  later('externalDatabaseConnections.deleteExternalDatabaseConnection', (world) =>
    world.app.externalDatabaseConnections.deleteExternalDatabaseConnection('connection'),
  ),
  later('scheduledWorkflows.createScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.createScheduledDataWorkflow(WORKFLOW),
  ),
  later('scheduledWorkflows.listScheduledDataWorkflows', (world) =>
    world.app.scheduledWorkflows.listScheduledDataWorkflows(),
  ),
  later('scheduledWorkflows.getScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.getScheduledDataWorkflow('workflow'),
  ),
  later('scheduledWorkflows.updateScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.updateScheduledDataWorkflow(WORKFLOW),
  ),
  later('scheduledWorkflows.rescheduleScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.rescheduleScheduledDataWorkflow('workflow', {}),
  ),
  later('scheduledWorkflows.triggerScheduledDataWorkflowNow', (world) =>
    world.app.scheduledWorkflows.triggerScheduledDataWorkflowNow('workflow'),
  ),
  later('scheduledWorkflows.deleteScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.deleteScheduledDataWorkflow('workflow'),
  ),
];
