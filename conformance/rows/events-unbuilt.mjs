// Events of modules that are not built: no write of the server causes them yet. The run sends each as the server would:
// a delivery that the server made is taken as it is, headers and claims, the domain event in it is put in place of the
// other, and the server signs it with the application's key (`stoa app key sign`).
import * as jose from 'jose';
import { assert, member } from '../lib/expect.mjs';
import { text } from '../lib/parse.mjs';
import { checkEvent, includes } from './event-kit.mjs';

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
 * @property {string} fqdn
 * @property {string} slug
 * @property {object} change  as the domain event has it
 * @property {object} told    as the handler gets it
 */

/** By type. @type {Record<string, Unbuilt>} */
export const UNBUILT = {
  'wix.data.v2.backup_backup_state_changed': {
    fqdn: 'wix.data.v2.backup',
    slug: 'backup_state_changed',
    change: { actionEvent: { body: { backup: BACKUP } } },
    told: { data: { backup } },
  },
  'wix.data.v2.backup_restoration_state_changed': {
    fqdn: 'wix.data.v2.backup',
    slug: 'restoration_state_changed',
    change: { actionEvent: { body: { restoration: RESTORATION } } },
    told: { data: { restoration: { _id: ID, status: 'COMPLETED', ...asked, backup } } },
  },
  'wix.hub.v1.job_created': {
    fqdn: 'wix.hub.v1.job',
    slug: 'created',
    change: { createdEvent: { entity: JOB } },
    told: { entity: job },
  },
  'wix.hub.v1.job_updated': {
    fqdn: 'wix.hub.v1.job',
    slug: 'updated',
    change: {
      updatedEvent: {
        currentEntity: { ...JOB, status: 'COMPLETED', finishedAt: ENDED },
        modifiedFields: { status: 'COMPLETED', finishedAt: ENDED },
      },
    },
    told: {
      entity: { ...job, status: 'COMPLETED', finishedAt: new Date(ENDED) },
      modifiedFields: { status: 'COMPLETED' },
    },
  },
  'wix.hub.v1.job_deleted': {
    fqdn: 'wix.hub.v1.job',
    slug: 'deleted',
    change: { deletedEvent: {} },
    told: {},
  },
};

/** Sends an event to the receiver, and compares what its handler was called with. @param {Kit} kit @param {string} type @param {Unbuilt} event */
export async function sendAsServer(kit, type, { fqdn, slug, change, told }) {
  const since = Date.now();
  const { headers, body } = await template(kit);
  // When it was signed is said anew.
  const { iat, exp, ...claims } = jose.decodeJwt(body);
  assert.ok(iat && exp);
  const id = kit.world.id();
  const token = await kit.app.sign({
    ...claims,
    jti: id,
    data: envelope(text(claims, 'data'), { type, id, fqdn, slug, change }),
  });
  const { connection, host, 'content-length': length, ...sent } = headers;
  assert.ok(length && host);
  const response = await fetch(kit.receiver.url, {
    method: 'POST',
    headers: { ...sent, 'webhook-id': id },
    body: token,
  });
  assert.equal(response.status, 200, await response.text());
  const event = await kit.event(type, ({ metadata }) => metadata._id === id);
  checkEvent(kit, type, event, { by: kit.byKey, entityId: ID, ...told }, since);
}

/** A delivery of the server: of an item that is made for it. @param {Kit} kit */
async function template(kit) {
  const { _id } = await kit.world.app.items.insert(kit.collection, { title: 'Template' });
  return kit.deliveryOf(await kit.event('wix.data.v2.data_item_created', ({ metadata }) => metadata.entityId === _id));
}

/** The claim `data` with another domain event in it. @param {string} data @param {Omit<Unbuilt, 'told'> & { type: string, id: string }} event */
function envelope(data, { type, id, fqdn, slug, change }) {
  const outer = JSON.parse(data);
  const { createdEvent, ...inner } = JSON.parse(text(outer, 'data'));
  includes(createdEvent, { entity: (/** @type {unknown} */ it) => member(it, 'id') !== undefined }, 'createdEvent');
  const event = { ...inner, id, entityFqdn: fqdn, slug, entityId: ID, ...change };
  return JSON.stringify({ ...outer, eventType: type, data: JSON.stringify(event) });
}
