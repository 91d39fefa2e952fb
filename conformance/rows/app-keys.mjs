// What is signed for an application: taken by the public client and by `jose`, with keys that were made and that were
// imported, before, between and after the two steps in which a key is replaced. The tokens are those that operators get
// to try a receiver with (`stoa app key sign`).
import * as sdk from '@wix/sdk';
import * as jose from 'jose';
import { createApplication, nextKey } from '../lib/application.mjs';
import { assert, failure, member, present } from '../lib/expect.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

const EVENT = 'AppInstalled';

/** An application and those who receive for it. @typedef {Awaited<ReturnType<typeof application>>} Receiving */

/** @param {World} world */
async function application(world) {
  const app = await createApplication(world);
  const { id } = app;
  const jwks = `https://www.wixapis.com/_api/apps/v1/${id}/jwks`;
  return {
    ...app,
    /** The application as the public client receives for it. @param {string} publicKey */
    receiver(publicKey) {
      const client = sdk.createClient({ auth: sdk.AppStrategy({ appId: id, publicKey }) });
      /** @type {unknown[]} */
      const handled = [];
      client.use(client.webhooks.apps.AppInstalled)((/** @type {unknown} */ event) => void handled.push(event));
      return { handled, client };
    },
    /** One that reads the list of keys. */
    keySet: () => jose.createRemoteJWKSet(new URL(jwks), { cooldownDuration: 0 }),
  };
}

/** A webhook's claims. @param {World} world @param {Receiving} app @param {string} id */
function webhook(world, app, id) {
  const event = {
    eventType: EVENT,
    instanceId: world.run.siteId,
    identity: JSON.stringify({ identityType: 'APP', appId: app.id }),
    data: JSON.stringify({ appId: app.id, originInstanceId: id }),
  };
  return { iss: 'https://www.wixapis.com', aud: app.id, jti: id, data: JSON.stringify(event) };
}

/** What a service plug-in is asked. @param {World} world @param {Receiving} app */
function plugin(world, app) {
  const metadata = { appExtensionType: 'STOA_TEST', requestId: world.id(), instanceId: world.run.siteId };
  return { iss: 'wix.com', aud: app.id, data: { metadata, request: { asked: true } } };
}

/** @param {World} world @param {boolean} isImported */
async function acceptsBoth(world, isImported) {
  const app = await application(world);
  const publicKey = await nextKey(app, isImported);
  await app.key('activate');
  const token = await app.sign(webhook(world, app, 'one'));
  // As PEM, and as base64 of it.
  for (const key of [publicKey, Buffer.from(publicKey).toString('base64')]) {
    const { client, handled } = app.receiver(key);
    const processed = await client.webhooks.process(token);
    assert.deepEqual(
      [processed.eventType, processed.instanceId, member(processed.payload, 'originInstanceId')],
      [EVENT, world.run.siteId, 'one'],
    );
    assert.equal(handled.length, 1);
    const asked = await client.servicePlugins.parseJWT(await app.sign(plugin(world, app)));
    assert.deepEqual([asked.metadata.appExtensionType, asked.request], ['STOA_TEST', { asked: true }]);
    // Each is refused where the other is meant.
    await failure(client.servicePlugins.parseJWT(token));
    await failure(client.webhooks.process(await app.sign(plugin(world, app))));
    await failure(client.webhooks.process(await app.sign({ ...webhook(world, app, 'two'), exp: 1 })));
  }
  const verified = await jose.jwtVerify(token, app.keySet(), { audience: app.id, algorithms: ['RS256'] });
  assert.equal(verified.protectedHeader.typ, 'JWT');
  assert.equal(verified.protectedHeader.kid, await jose.calculateJwkThumbprint(await publicJwk(publicKey)));
  const local = await jose.jwtVerify(token, await jose.importSPKI(publicKey, 'RS256'));
  assert.equal(local.payload.jti, 'one');
  // Not by the key of another application.
  const other = await application(world);
  const anothers = await nextKey(other, false);
  await failure(other.receiver(anothers).client.webhooks.process(token));
  await failure(jose.jwtVerify(token, other.keySet()));
}

/** @param {string} publicKey */
async function publicJwk(publicKey) {
  return jose.exportJWK(await jose.importSPKI(publicKey, 'RS256', { extractable: true }));
}

/** @type {Row[]} */
export const rows = [
  {
    method: 'AppStrategy.decodeJWT',
    check: 'takes what a made key signed, and so does jose',
    required: true,
    run: (world) => acceptsBoth(world, false),
  },
  {
    method: 'AppStrategy.decodeJWT',
    check: 'takes what an imported key signed, and so does jose',
    required: true,
    run: (world) => acceptsBoth(world, true),
  },
  {
    method: 'AppStrategy.decodeJWT',
    check: 'loses nothing while its one key is replaced in two steps',
    required: true,
    async run(world) {
      const app = await application(world);
      const first = await nextKey(app, false);
      await app.key('activate');
      // It reads the keys now, and holds them until it meets another.
      const keySet = app.keySet();
      /** @type {Map<string, boolean>} whether an event arrived, by its id */
      const events = new Map();
      let receiver = app.receiver(first);
      /** Sends what has not arrived, each signed anew; answers how many were refused. */
      const send = async () => {
        let refused = 0;
        for (const id of [...events].filter(([, arrived]) => !arrived).map(([id]) => id)) {
          const token = await app.sign(webhook(world, app, id));
          assert.equal(
            (await jose.jwtVerify(token, keySet)).payload.jti,
            id,
            'who reads the keys loses nothing at all',
          );
          const arrives = await receiver.client.webhooks.process(token).then(
            () => true,
            () => false,
          );
          events.set(id, arrives);
          refused += arrives ? 0 : 1;
        }
        return refused;
      };
      events.set('before', false);
      assert.equal(await send(), 0);
      const second = await nextKey(app, true);
      events.set('shown', false);
      assert.equal(await send(), 0, 'the next key signs nothing yet');
      // It can be tried with a receiver that has it already.
      await app.receiver(second).client.webhooks.process(await app.sign(webhook(world, app, 'trial'), '--next'));
      receiver = app.receiver(second);
      events.set('deployed', false);
      assert.equal(await send(), 1, 'refused until it is activated, and sent again');
      await app.key('activate');
      events.set('after', false);
      assert.equal(await send(), 0);
      assert.deepEqual([...events.values()], [true, true, true, true]);
      // A token that was under way meanwhile is taken by who reads the keys, for as long as the old one is shown.
      const shown = await jose.jwtVerify(await app.sign(webhook(world, app, 'late')), app.keySet());
      assert.equal(shown.payload.jti, 'late');
      const states = /** @type {unknown[]} */ (await app.key('list')).map((it) => member(it, 'state'));
      assert.deepEqual(states, ['RETIRED', 'ACTIVE']);
    },
  },
  {
    method: 'AppStrategy.decodeJWT',
    check: 'a key that is removed is no longer shown to jose',
    required: true,
    async run(world) {
      const app = await application(world);
      await nextKey(app, false);
      await app.key('activate');
      const token = await app.sign(webhook(world, app, 'leaked'));
      const leaked = present(jose.decodeProtectedHeader(token).kid);
      await nextKey(app, false);
      await app.key('activate');
      await jose.jwtVerify(token, app.keySet());
      await app.key('remove', leaked);
      const error = await failure(jose.jwtVerify(token, app.keySet()));
      assert.equal(error.code, 'ERR_JWKS_NO_MATCHING_KEY');
    },
  },
];
