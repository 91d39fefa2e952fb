// Events of modules that are not built: no write of the server causes them yet. The run writes the row that such a module
// will write into the log of its site, by SQL; from there on it goes the way of all others: the server reads it, makes the
// delivery, signs it and posts it to the unmodified packages. No endpoint can ask for these types, so that is written too.
import { setTimeout as sleep } from 'node:timers/promises';
import { writeRow } from '../lib/database.mjs';
import { createEndpoint } from '../lib/endpoint.mjs';
import { checkEvent } from './event-kit.mjs';

/** @import { Kit } from './event-kit.mjs' */

const [ASKED, BEGUN, ENDED] = [1, 2, 3].map((day) => `2026-01-0${day}T10:00:00.000Z`);
const ID = '3c1f0e62-95a4-4f9b-9a3e-5f2b7c1d8e90';
const DATES = { requestedDate: ASKED, startedDate: BEGUN, finishedDate: ENDED };
const COLLECTIONS = [{ id: 'cars', displayName: 'Cars' }];
const BACKUP = { id: ID, status: 'READY', type: 'ON_DEMAND', ...DATES, sizeInBytes: '1024', collections: COLLECTIONS };
const RESTORATION = { id: ID, status: 'COMPLETED', ...DATES, backup: BACKUP };
const JOB = { id: ID, status: 'IN_PROGRESS', name: 'Cars', startedAt: BEGUN, progress: { current: 1, total: 2 } };

const asked = { requestedDate: new Date(ASKED), startedDate: new Date(BEGUN), finishedDate: new Date(ENDED) };
const backup = { _id: ID, status: 'READY', ...asked, collections: [{ _id: 'cars', displayName: 'Cars' }] };
const job = { _id: ID, status: 'IN_PROGRESS', startedAt: new Date(BEGUN), progress: { current: 1, total: 2 } };

/**
 * @typedef {object} Unbuilt
 * @property {string} kind    of the row
 * @property {object} row     its payload, but for who did it
 * @property {object} told    as the handler gets it
 */

/** By type. @type {Record<string, Unbuilt>} */
export const UNBUILT = {
  'wix.data.v2.backup_backup_state_changed': {
    kind: 'backup_state_changed',
    row: { entity: BACKUP },
    told: { data: { backup } },
  },
  'wix.data.v2.backup_restoration_state_changed': {
    kind: 'restoration_state_changed',
    row: { entity: RESTORATION },
    told: { data: { restoration: { _id: ID, status: 'COMPLETED', ...asked, backup } } },
  },
  'wix.hub.v1.job_created': {
    kind: 'movement_job_created',
    row: { entity: JOB },
    told: { entity: job },
  },
  'wix.hub.v1.job_updated': {
    kind: 'movement_job_updated',
    row: {
      entity: { ...JOB, status: 'COMPLETED', finishedAt: ENDED },
      modified: [['status', 'finishedAt']],
    },
    told: {
      entity: { ...job, status: 'COMPLETED', finishedAt: new Date(ENDED) },
      modifiedFields: { status: 'COMPLETED' },
    },
  },
  'wix.hub.v1.job_deleted': {
    kind: 'movement_job_deleted',
    row: { entity: { id: ID } },
    told: {},
  },
};

/** Who did it, in a row and as the handler gets it. */
const BY = [
  { type: 'WIX_USER', id: 'owner' },
  { identityType: 'WIX_USER', wixUserId: 'owner' },
];
/** A sender learns of a pause a second or two later. */
const PAUSED_MS = 3_000;

/** Writes a row, and compares what the handler of its event was called with. @param {Kit} kit @param {string} type @param {Unbuilt} event */
export async function tellsOfRow(kit, type, { kind, row, told }) {
  const { world } = kit;
  await world.once('events of modules to come', () => hearAll(kit));
  const since = Date.now();
  const payload = JSON.stringify({ identity: BY[0], ...row });
  const sql = 'insert into stoa.outbox (site, kind, payload, created) values ($1, $2, $3, $4)';
  await writeRow(world.run, sql, [world.run.siteId, kind, payload, since]);
  // A write of the server itself, so that it looks into the log.
  await world.app.items.insert(kit.collection, { title: 'Written' });
  const event = await kit.event(type, ({ metadata }) => metadata.entityId === ID);
  checkEvent(kit, type, event, { by: BY[1], entityId: ID, ...told }, since);
}

/** A further endpoint of the application, which hears of all these types. @param {Kit} kit */
async function hearAll({ world, app, receiver }) {
  const types = ['wix.data.v2.index_created'];
  const endpoint = await createEndpoint(world, { appId: app.id, url: receiver.url, types });
  await endpoint.pause();
  await sleep(PAUSED_MS);
  const sql = 'update stoa.webhook_endpoint set types = $1 where site = $2 and id = $3';
  await writeRow(world.run, sql, [JSON.stringify(Object.keys(UNBUILT)), world.run.siteId, endpoint.id]);
  await endpoint.resume();
  return endpoint;
}
