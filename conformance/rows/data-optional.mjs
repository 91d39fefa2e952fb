// The other data modules, none of them required: backups, movement jobs, sharing, external
// connections, scheduled workflows. A row is the call with plausible arguments; where the answer
// is known, it is looked at.
import { assert, present, untyped } from '../lib/expect.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @type {(method: string, run: (world: World, id: string) => unknown, check?: string) => Row} */
const optional = (method, run, check = 'answers') => ({
  method,
  check,
  run: async (world) => run(world, await world.createCollection()),
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
  optional('backups.createBackup', (world) => world.app.backups.createBackup()),
  optional(
    'backups.listBackups',
    async (world) => assert.ok(Array.isArray((await world.app.backups.listBackups()).backups)),
    'a list',
  ),
  optional(
    'backups.listRestorations',
    async (world) => assert.ok(Array.isArray((await world.app.backups.listRestorations()).restorations)),
    'a list',
  ),
  optional('backups.restoreBackup', async (world) => {
    const made = await world.app.backups.createBackup();
    await world.app.backups.restoreBackup(present(made.backup?._id));
  }),
  optional('backups.restorePartialBackup', async (world, id) => {
    const made = await world.app.backups.createBackup();
    await world.app.backups.restorePartialBackup(present(made.backup?._id), [{ dataCollectionId: id }]);
  }),
  optional('backups.deleteBackup', async (world) => {
    const made = await world.app.backups.createBackup();
    await world.app.backups.deleteBackup(present(made.backup?._id));
  }),
  optional('movementJobs.submitJob', job),
  optional(
    'movementJobs.createFileUploadUrl',
    async (world) => assert.ok((await world.app.movementJobs.createFileUploadUrl({ fileName: 'a.csv' })).uploadUrl),
    'gives an address',
  ),
  optional('movementJobs.getJob', async (world, id) => {
    const made = await job(world, id);
    await world.app.movementJobs.getJob(present(made.job?._id));
  }),
  optional(
    'movementJobs.listJobs',
    async (world) => assert.ok(Array.isArray((await world.app.movementJobs.listJobs()).jobs)),
    'a list',
  ),
  optional('movementJobs.queryJobs', (world) => world.app.movementJobs.queryJobs().find()),
  optional('movementJobs.terminateJob', async (world, id) => {
    const made = await job(world, id);
    await world.app.movementJobs.terminateJob(present(made.job?._id));
  }),
  optional('movementJobs.listMovementLogs', async (world, id) => {
    const made = await job(world, id);
    await world.app.movementJobs.listMovementLogs(present(made.job?._id));
  }),
  optional('sharing.createDataSharingPolicy', policy),
  optional('sharing.updateDataSharingPolicy', async (world, id) => {
    const made = await policy(world, id);
    await world.app.sharing.updateDataSharingPolicy(present(made._id), {});
  }),
  optional('sharing.deleteDataSharingPolicy', async (world, id) => {
    const made = await policy(world, id);
    await world.app.sharing.deleteDataSharingPolicy(present(made._id));
  }),
  optional('sharing.getDataSharingPolicy', async (world, id) => {
    const made = await policy(world, id);
    await world.app.sharing.getDataSharingPolicy(present(made._id));
  }),
  optional('sharing.listDataSharingPolicies', (world) => world.app.sharing.listDataSharingPolicies()),
  optional('sharing.listSharedDataCollections', (world) => world.app.sharing.listSharedDataCollections()),
  optional('sharing.bulkGetSharedCollectionStats', (world, id) =>
    world.app.sharing.bulkGetSharedCollectionStats(untyped({ dataCollectionIds: [id] })),
  ),
  optional('sharing.connectToSharedCollection', (world) =>
    world.app.sharing.connectToSharedCollection('namespace', { dataSharingPolicyId: world.id() }),
  ),
  optional('sharing.disconnectFromSharedCollection', (world, id) =>
    world.app.sharing.disconnectFromSharedCollection({ dataCollectionId: id }),
  ),
  optional('externalDatabaseConnections.listExternalDatabaseConnections', (world) =>
    world.app.externalDatabaseConnections.listExternalDatabaseConnections(),
  ),
  optional('externalDatabaseConnections.createExternalDatabaseConnection', (world) =>
    world.app.externalDatabaseConnections.createExternalDatabaseConnection(CONNECTION, 'STANDALONE'),
  ),
  optional('externalDatabaseConnections.getExternalDatabaseConnection', (world) =>
    world.app.externalDatabaseConnections.getExternalDatabaseConnection('connection'),
  ),
  optional('externalDatabaseConnections.updateExternalDatabaseConnection', (world) =>
    world.app.externalDatabaseConnections.updateExternalDatabaseConnection('connection', CONNECTION),
  ),
  optional('externalDatabaseConnections.deleteExternalDatabaseConnection', (world) =>
    world.app.externalDatabaseConnections.deleteExternalDatabaseConnection('connection'),
  ),
  optional('scheduledWorkflows.createScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.createScheduledDataWorkflow(WORKFLOW),
  ),
  optional('scheduledWorkflows.listScheduledDataWorkflows', (world) =>
    world.app.scheduledWorkflows.listScheduledDataWorkflows(),
  ),
  optional('scheduledWorkflows.getScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.getScheduledDataWorkflow('workflow'),
  ),
  optional('scheduledWorkflows.updateScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.updateScheduledDataWorkflow(WORKFLOW),
  ),
  optional('scheduledWorkflows.rescheduleScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.rescheduleScheduledDataWorkflow('workflow', {}),
  ),
  optional('scheduledWorkflows.triggerScheduledDataWorkflowNow', (world) =>
    world.app.scheduledWorkflows.triggerScheduledDataWorkflowNow('workflow'),
  ),
  optional('scheduledWorkflows.deleteScheduledDataWorkflow', (world) =>
    world.app.scheduledWorkflows.deleteScheduledDataWorkflow('workflow'),
  ),
];
