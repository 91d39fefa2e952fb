// Deliveries: their form, their order, what comes again, and what an endpoint never gets; with the unmodified client, and
// without it by Standard Webhooks.
import { setTimeout as sleep } from 'node:timers/promises';
import * as jose from 'jose';
import * as sdk from '@wix/sdk';
import { items } from '@wix/data';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { createApplication, nextKey } from '../lib/application.mjs';
import { askForEndpoint, createEndpoint } from '../lib/endpoint.mjs';
import { typeOf } from '../lib/events.mjs';
import { assert, member, present } from '../lib/expect.mjs';
import { text } from '../lib/parse.mjs';
import { startReceiver, until } from '../lib/receiver.mjs';
import { kitOf } from './event-kit.mjs';

/** @import { Delivery } from '../lib/receiver.mjs' */
/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */
/** @import { Envelope, Kit } from './event-kit.mjs' */

const [CREATED, UPDATED, DELETED] = ['Created', 'Updated', 'Deleted'].map((it) => typeOf(`items.onDataItem${it}`));
/** Most bytes of a delivery, unless the endpoint says otherwise. */
const MOST = 96 * 1024;

/** The id of an item that is made by the holder of the site's key. @param {World} world @param {string} collection @param {object} [values] */
async function insert(world, collection, values = {}) {
  return (await world.app.items.insert(collection, { title: 'Made', ...values }))._id;
}

/** @param {string} id @returns {(event: Envelope) => boolean} */
const of = (id) => (event) => event.metadata.entityId === id;

/** An item was made and its event has come: the delivery of it. @param {Kit} kit */
async function delivered(kit) {
  const id = await insert(kit.world, kit.collection);
  const event = await kit.event(CREATED, of(id));
  return { id, event, delivery: kit.deliveryOf(event) };
}

/** @type {Row[]} */
const withClient = [
  {
    method: 'webhooks.process',
    check: 'takes a delivery of the form that is described',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const { id, event, delivery } = await delivered(kit);
      const { headers, body } = delivery;
      assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
      assert.match(headers['user-agent'], /^Stoa\/\d/);
      const { protectedHeader, payload } = await jose.jwtVerify(body, keysOf(kit), { algorithms: ['RS256'] });
      assert.deepEqual(Object.keys(protectedHeader).sort(), ['alg', 'kid', 'typ']);
      assert.deepEqual([payload.aud, payload.jti, payload.nbf], [kit.app.id, event.metadata._id, undefined]);
      assert.equal(Number(payload.exp) - Number(payload.iat), 300);
      assert.ok(payload.iss);
      const data = JSON.parse(text(payload, 'data'));
      assert.deepEqual([data.eventType, data.instanceId], [CREATED, world.run.siteId]);
      assert.deepEqual(
        [typeof data.identity, typeof data.data, typeof data.accountInfo],
        ['string', 'string', 'object'],
      );
      assert.equal(JSON.parse(data.data).createdEvent.entity.id, id);
    },
  },
  {
    method: 'webhooks.processRequest',
    check: 'takes the same, as a request',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const { delivery, event } = await delivered(kit);
      const request = () => new Request(kit.receiver.url, { method: 'POST', body: delivery.body });
      const processed = await kit.client.webhooks.processRequest(request());
      assert.equal(processed.eventType, CREATED);
      const parsed = await kit.client.webhooks.parseRequest(request());
      assert.deepEqual([member(parsed.payload, 'id'), parsed.instanceId], [event.metadata._id, world.run.siteId]);
    },
  },
  {
    method: 'webhooks.process',
    check: 'one item’s events come in order',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const ids = await Promise.all([1, 2, 3].map(() => insert(world, kit.collection)));
      for (let n = 1; n <= 8; n += 1)
        await Promise.all(ids.map((_id) => world.app.items.update(kit.collection, { _id, n })));
      await Promise.all(ids.map((_id) => world.app.items.remove(kit.collection, _id)));
      for (const id of ids) {
        await kit.event(DELETED, of(id));
        const events = kit.heard.filter(({ event }) => event.metadata.entityId === id);
        assert.deepEqual(
          events.map(({ type }) => type),
          [CREATED, ...Array(8).fill(UPDATED), DELETED],
        );
        assert.deepEqual(
          events.slice(1, 9).map(({ event }) => member(event.modifiedFields, 'n')),
          [1, 2, 3, 4, 5, 6, 7, 8],
        );
        const numbers = events.map(({ event }) => BigInt(String(event.metadata.entityEventSequence)));
        assert.ok(
          numbers.every((number, n) => n === 0 || number > numbers[n - 1]),
          String(numbers),
        );
      }
    },
  },
  {
    method: 'webhooks.process',
    check: 'what a handler refuses comes again, signed anew',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const _id = world.id();
      kit.refused.add(_id);
      await insert(world, kit.collection, { _id });
      const event = await kit.event(CREATED, of(_id));
      const tries = kit.receiver.deliveries.filter(({ headers }) => headers['webhook-id'] === event.metadata._id);
      assert.deepEqual([tries.length > 1, tries[0].status, tries[1].status], [true, 500, 200]);
      const [first, second] = tries.map(({ body }) => jose.decodeJwt(body));
      assert.equal(first.jti, second.jti);
      assert.ok(Number(second.iat) > Number(first.iat), 'it is signed anew');
      assert.equal(second.data, first.data);
    },
  },
  {
    method: 'webhooks.process',
    check: 'a bulk insert is an event for each item',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const made = [1, 2, 3].map((n) => ({ _id: world.id(), n }));
      await world.app.items.bulkInsert(kit.collection, made);
      for (const { _id, n } of made) {
        const { entity } = await kit.event(CREATED, of(_id));
        assert.equal(member(member(entity, 'data'), 'n'), n);
      }
    },
  },
  {
    method: 'webhooks.process',
    check: 'a truncate is a deletion of each item',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const collection = await world.createCollection();
      const ids = await Promise.all([1, 2, 3].map(() => insert(world, collection)));
      await world.app.items.truncate(collection);
      for (const id of ids) {
        const { entity } = await kit.event(DELETED, of(id));
        assert.deepEqual(entity, { _id: id, dataCollectionId: collection });
      }
    },
  },
  {
    method: 'webhooks.process',
    check: 'an item that express.text() does not take arrives without its data',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const long = '"'.repeat(40_000);
      const id = await insert(world, kit.collection, { long });
      const event = await kit.event(CREATED, of(id));
      assert.deepEqual(
        [event.entity, event.metadata.dataOmitted],
        [{ _id: id, dataCollectionId: kit.collection }, true],
      );
      assert.ok(kit.deliveryOf(event).body.length <= MOST);
      assert.equal(present(await world.app.items.get(kit.collection, id)).long, long);
    },
  },
  {
    method: 'webhooks.process',
    check: 'an endpoint gets the types and collections that it names, and nothing else',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const app = await createApplication(world);
      const publicKey = await nextKey(app, true);
      await app.key('activate');
      const client = sdk.createClient({ modules: { items }, auth: sdk.AppStrategy({ appId: app.id, publicKey }) });
      /** @type {string[]} */
      const heard = [];
      client.items.onDataItemCreated(({ metadata }) => void heard.push(String(metadata.entityId)));
      const receiver = await startReceiver((body) => client.webhooks.process(body));
      const collection = await world.createCollection();
      const wish = { appId: app.id, url: receiver.url, types: [CREATED], collections: [collection] };
      const endpoint = await createEndpoint(world, wish);
      const first = await insert(world, collection);
      await insert(world, kit.collection);
      await world.app.items.update(collection, { _id: first, n: 1 });
      await world.app.items.remove(collection, first);
      const last = await insert(world, collection);
      await until(() => (heard.includes(first) && heard.includes(last) ? true : undefined), 'events of both items');
      await sleep(500);
      assert.deepEqual(new Set(heard), new Set([first, last]));
      assert.ok(
        receiver.deliveries.every(({ status }) => status === 200),
        'nothing came that has no handler',
      );
      await endpoint.remove();
      receiver.close();
    },
  },
  {
    method: 'webhooks.process',
    check: 'nothing is lost while the application’s one key is replaced in two steps',
    required: true,
    async run(world) {
      const app = await createApplication(world);
      const first = await nextKey(app, false);
      await app.key('activate');
      /** @type {Set<string>} */
      const heard = new Set();
      const clientWith = (/** @type {string} */ publicKey) => {
        const client = sdk.createClient({ modules: { items }, auth: sdk.AppStrategy({ appId: app.id, publicKey }) });
        client.items.onDataItemCreated(({ metadata }) => void heard.add(String(metadata.entityId)));
        return client;
      };
      let client = clientWith(first);
      const receiver = await startReceiver((body) => client.webhooks.process(body));
      const collection = await world.createCollection();
      const wish = { appId: app.id, url: receiver.url, types: [CREATED], collections: [collection] };
      const endpoint = await createEndpoint(world, wish);
      const made = [await insert(world, collection)];
      const second = await nextKey(app, true);
      made.push(await insert(world, collection));
      await until(() => (heard.size === 2 ? true : undefined), 'events under the first key');
      // The receiver has its new key before the server signs with it.
      client = clientWith(second);
      made.push(await insert(world, collection));
      await until(() => receiver.deliveries.find(({ status }) => status === 500), 'refused delivery');
      await app.key('activate');
      made.push(await insert(world, collection));
      await until(() => (heard.size === 4 ? true : undefined), 'events under the second key', 30_000);
      assert.deepEqual([...heard].sort(), made.sort());
      await endpoint.remove();
      receiver.close();
    },
  },
  {
    method: 'client.webhooks',
    check: 'an endpoint that asks for a type that is not there is told the nearest',
    required: true,
    async run(world) {
      const { app, receiver } = await kitOf(world);
      const types = [CREATED, 'wix.data.v2.data_item_creatd'];
      const { status, answer } = await askForEndpoint(world, { appId: app.id, url: receiver.url, types });
      assert.equal(status, 400);
      const said = JSON.stringify(answer);
      assert.ok(said.includes(types[1]) && said.includes(`did you mean ${CREATED}?`), said);
    },
  },
];

/** The keys of an application as its list shows them. @param {Kit} kit */
const keysOf = ({ app }) => jose.createRemoteJWKSet(new URL(`https://www.wixapis.com/_api/apps/v1/${app.id}/jwks`));

/** @type {Row[]} */
const withoutClient = [
  {
    method: 'standardwebhooks.verify',
    check: 'takes a delivery of the standard form',
    required: true,
    async run(world) {
      const app = await createApplication(world);
      /** @type {unknown[]} */
      const events = [];
      /** @type {Webhook | undefined} */
      let webhook;
      const receiver = await startReceiver((body, headers) => {
        events.push(present(webhook).verify(body, headers));
      }, 'application/json');
      const collection = await world.createCollection();
      const types = [CREATED, UPDATED, DELETED];
      const wish = {
        appId: app.id,
        url: receiver.url,
        types,
        collections: [collection],
        format: /** @type {const} */ ('standard'),
      };
      const endpoint = await createEndpoint(world, wish);
      webhook = new Webhook(endpoint.secret);
      const id = await insert(world, collection, { n: 1 });
      const made = await until(() => events.at(0), 'event');
      assert.deepEqual(Object.keys(/** @type {object} */ (made)).sort(), ['data', 'timestamp', 'type']);
      assert.equal(member(made, 'type'), CREATED);
      assert.ok(Math.abs(Date.parse(text(made, 'timestamp')) - Date.now()) < 60_000);
      assert.ok(JSON.stringify(member(made, 'data')).includes(id));

      const [{ headers, body }] = receiver.deliveries;
      const refuses = (/** @type {() => unknown} */ verify) => assert.throws(verify, WebhookVerificationError);
      refuses(() => new Webhook(endpoint.secret).verify(`${body} `, headers));
      refuses(() => new Webhook(endpoint.secret).verify(body, { ...headers, 'webhook-id': 'other' }));
      refuses(() => new Webhook(endpoint.secret).verify(body, { ...headers, 'webhook-timestamp': '1' }));
      refuses(() => new Webhook(`whsec_${Buffer.alloc(24, 1).toString('base64')}`).verify(body, headers));

      // While a secret is replaced, both verify. Until the one that sends has heard of it, the earlier one does.
      const [old, fresh] = [webhook, new Webhook(await endpoint.rotateSecret())];
      const isFresh = (/** @type {Delivery} */ it) => it.headers['webhook-signature'].split(' ').length === 2;
      for (let n = 2; n < 20 && !receiver.deliveries.some(isFresh); n += 1) {
        await world.app.items.update(collection, { _id: id, n });
        await until(() => events.at(n - 1), 'event under the earlier secret');
        await sleep(200);
      }
      const both = present(receiver.deliveries.find(isFresh));
      for (const it of [old, fresh]) assert.ok(types.includes(text(it.verify(both.body, both.headers), 'type')));
      await endpoint.remove();
      receiver.close();
    },
  },
  {
    method: 'standardwebhooks.verify',
    check: 'takes the signature beside the token that the client reads',
    required: true,
    async run(world) {
      const kit = await kitOf(world);
      const { delivery } = await delivered(kit);
      new Webhook(kit.endpoint.secret).verify(delivery.body, delivery.headers, { jsonParse: false });
    },
  },
];

export const rows = [...withClient, ...withoutClient];
