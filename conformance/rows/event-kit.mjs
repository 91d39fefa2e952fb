// What the rows of events share: an application that hears of everything that the server can tell, and the comparison of
// what its handlers were called with.
import * as sdk from '@wix/sdk';
import * as data from '@wix/data';
import * as identity from '@wix/identity';
import * as membersPackage from '@wix/members';
import { redirects } from '@wix/redirects';
import { createApplication, nextKey } from '../lib/application.mjs';
import { createEndpoint } from '../lib/endpoint.mjs';
import { APP_EVENTS, DELIVERED, EVENTS } from '../lib/events.mjs';
import { assert, member, present, untyped } from '../lib/expect.mjs';
import { startReceiver, until } from '../lib/receiver.mjs';
import { stoaAt } from '../lib/stoa.mjs';

/** @import { World } from '../lib/world.mjs' */

/**
 * What a handler was called with.
 * @typedef {object} Envelope
 * @property {unknown} [entity]
 * @property {unknown} [data]
 * @property {unknown} [modifiedFields]
 * @property {Record<string, unknown>} metadata
 */
/** @typedef {{ type: string, event: Envelope }} Heard */

/**
 * What an event must tell. Of `entity` and `data` what is named must be there; a function looks at a value by itself.
 * @typedef {object} Expected
 * @property {unknown} by            the identity
 * @property {string} [entityId]
 * @property {unknown} [entity]
 * @property {unknown} [data]
 * @property {unknown} [modifiedFields]
 */

/** @typedef {Awaited<ReturnType<typeof createKit>>} Kit */

/** @param {World} world @returns {Promise<Kit>} */
export const kitOf = (world) => world.once('events', () => createKit(world));

/** @param {World} world */
async function createKit(world) {
  const app = await createApplication(world);
  const publicKey = await nextKey(app, false);
  await app.key('activate');
  const listening = listener(app.id, publicKey);
  const receiver = await startReceiver((body) => listening.client.webhooks.process(body));
  const endpoint = await createEndpoint(world, { appId: app.id, url: receiver.url, types: DELIVERED });
  const { id, client } = await world.member('events');
  const { auth } = world.visitor(client.auth.getTokens());
  return {
    world,
    app,
    endpoint,
    receiver,
    ...listening,
    /** A member who acts: with the modules of content and identity, and with those of members. */
    memberId: id,
    me: client,
    meAsMember: world.membersClient(auth),
    collection: await world.createCollection(),
    /** Who the holder of the site's key is. */
    byKey: { identityType: 'APP', appId: await keyId(world) },
    byMember: { identityType: 'MEMBER', memberId: id },
    /** Another member. */
    async member() {
      const made = await world.membersApp.members.createMember({ member: { loginEmail: world.email() } });
      return present(made._id);
    },
    /** The first of these events that fits. @param {string} type @param {(event: Envelope) => boolean} fits */
    event: (type, fits) =>
      until(() => listening.heard.find((it) => it.type === type && fits(it.event))?.event, `event ${type}`),
    /** The delivery of an event. @param {Envelope} event */
    deliveryOf: (event) =>
      present(receiver.deliveries.find(({ headers }) => headers['webhook-id'] === event.metadata._id)),
  };
}

/** The client of an application with a handler for each event. @param {string} appId @param {string} publicKey */
function listener(appId, publicKey) {
  const modules = { ...membersPackage, ...data, ...identity, redirects };
  const client = sdk.createClient({ modules, auth: sdk.AppStrategy({ appId, publicKey }) });
  /** @type {Heard[]} */
  const heard = [];
  /** Ids of entities whose next event its handler refuses. @type {Set<string>} */
  const refused = new Set();
  /** @param {string} type */
  const handler = (type) => (/** @type {Envelope} */ event) => {
    if (refused.delete(String(event.metadata.entityId))) throw new Error('refused by the handler');
    // What comes twice is the same.
    const { _id } = event.metadata;
    if (_id === undefined || heard.every((it) => it.event.metadata._id !== _id)) heard.push({ type, event });
  };
  for (const { method, type } of EVENTS) {
    const [module, name] = method.replace('members ', '').split('.');
    /** @type {(handler: (event: Envelope) => void) => void} */
    const register = untyped(member(member(client, module), name));
    register(handler(type));
  }
  client.use(client.webhooks.apps.AppInstalled)(untyped(handler(APP_EVENTS.AppInstalled)));
  client.use(client.webhooks.apps.AppRemoved)(untyped(handler(APP_EVENTS.AppRemoved)));
  return { client, heard, refused };
}

/** @param {World} world */
async function keyId(world) {
  const keys = /** @type {unknown[]} */ (await stoaAt({ data: world.run.dataDir }).command('key', 'list'));
  return member(
    keys.find((key) => member(key, 'name') === 'Conformance'),
    'keyId',
  );
}

/**
 * Compares what a handler got.
 * @param {Kit} kit
 * @param {string} type
 * @param {Envelope} event
 * @param {Expected} expected
 * @param {number} since  when it was caused at the earliest
 */
export function checkEvent(kit, type, event, expected, since) {
  const { metadata } = event;
  const { siteId } = kit.world.run;
  for (const part of /** @type {const} */ (['entity', 'data', 'modifiedFields']))
    includes(event[part], expected[part], part);
  includes(metadata.identity, expected.by, 'identity');
  assert.equal(metadata.instanceId, siteId);
  includes(metadata.accountInfo, { siteId }, 'accountInfo');
  if (type === APP_EVENTS.AppInstalled || type === APP_EVENTS.AppRemoved) return;
  assert.ok(typeof metadata._id === 'string' && metadata._id);
  if (expected.entityId) assert.equal(metadata.entityId, expected.entityId);
  assert.equal(`${metadata.entityFqdn}_${metadata.slug}`, type);
  const { eventTime } = metadata;
  assert.ok(eventTime instanceof Date, 'eventTime is a date');
  assert.ok(eventTime.getTime() >= since - 1 && eventTime.getTime() <= Date.now() + 1, String(eventTime));
  assert.match(String(metadata.entityEventSequence), /^[1-9]\d*$/);
  assert.equal(metadata.triggeredByAnonymizeRequest, false);
}

/**
 * Whether everything of `expected` is in `actual`.
 * @param {unknown} actual
 * @param {unknown} expected
 * @param {string} path
 */
export function includes(actual, expected, path) {
  if (typeof expected === 'function') {
    assert.ok(expected(actual), `${path} is ${JSON.stringify(actual)}`);
  } else if (isPlain(expected)) {
    assert.ok(isPlain(actual), `${path} is ${JSON.stringify(actual)}`);
    for (const [key, value] of Object.entries(expected)) includes(actual[key], value, `${path}.${key}`);
  } else {
    assert.deepEqual(actual, expected, path);
  }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isPlain = (value) =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Matches a date. @param {unknown} value */
export const isDate = (value) => value instanceof Date && !Number.isNaN(value.getTime());

/** Matches a text that is not empty. @param {unknown} value */
export const isText = (value) => typeof value === 'string' && value !== '';
