// Hooks that an application answers: a service plug-in of a kind of our own, in the unmodified client.
import { once } from 'node:events';
import * as sdk from '@wix/sdk';
import express from 'express';
import { createApplication, nextKey } from '../lib/application.mjs';
import { assert, failure, untyped } from '../lib/expect.mjs';
import { stoaAt } from '../lib/stoa.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @typedef {Record<string, unknown>} Item */
/** @typedef {{ collectionId: string, items: Item[], currentItems?: Item[], context: Record<string, string> }} Asked */
/** @typedef {{ metadata: { instanceId: string, identity: Record<string, string> }, request: Asked }} Question */
/** @typedef {(question: Question) => { results: object[] }} Answering */
/** @typedef {Record<typeof HOOKS[number], Answering>} Contract */

const HOOKS = /** @type {const} */ (['beforeInsert', 'beforeUpdate', 'afterQuery']);

const methods = HOOKS.map((name) => ({
  name,
  primaryHttpMappingPath: `/v1/data-hooks/${name}`,
  transformations: { fromREST: untyped(same), toREST: same },
}));
/**
 * The kind of plug-in, as its author defines it.
 * @type {{ __type: 'service-plugin-definition', componentType: string, methods: typeof methods, __contract: Contract }}
 */
const definition = untyped({ __type: 'service-plugin-definition', componentType: 'STOA_DATA_HOOKS', methods });

/** @template T @param {T} it */
function same(it) {
  return it;
}

/**
 * Answers by the client, as its documentation shows it.
 * @param {{ servicePlugins: { processRequest(request: Request): Promise<Response> } }} client
 */
async function serve(client) {
  const app = express();
  app.post('/hooks/v1/data-hooks/:hook', express.text(), async (request, response) => {
    const asked = new Request(`http://localhost${request.path}`, { method: 'POST', body: request.body });
    try {
      const answer = await client.servicePlugins.processRequest(asked);
      response.status(answer.status).json(await answer.json());
    } catch (error) {
      response.status(500).send(String(error));
    }
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the application has no port');
  return { url: `http://127.0.0.1:${address.port}/hooks`, close: () => void server.close() };
}

/** @param {World} world */
async function answers(world) {
  const app = await createApplication(world);
  const publicKey = await nextKey(app, false);
  await app.key('activate');
  const auth = sdk.AppStrategy({ appId: app.id, publicKey });
  const client = sdk.createClient({ auth, modules: { hooks: definition } });
  /** @type {Question[]} */
  const questions = [];
  client.hooks({
    beforeInsert(question) {
      questions.push(question);
      const { items } = question.request;
      if (items[0].title === 'later') throw Object.assign(new Error('later'), refusal);
      const result = (/** @type {Item} */ it) =>
        it.title
          ? { item: { ...it, title: `${it.title}!` } }
          : { error: { name: 'RangeError', message: 'no title', code: 7 } };
      return { results: items.map(result) };
    },
    beforeUpdate({ request }) {
      const title = (/** @type {number} */ n) => `was ${request.currentItems?.[n].title}`;
      return { results: request.items.map((it, n) => ({ item: { ...it, title: title(n) } })) };
    },
    afterQuery: ({ request }) => ({
      results: request.items.map((it) => ({ item: { ...it, seen: true } })),
    }),
  });
  const refusal = { errorType: 'SPI', applicationCode: 'NOT_NOW', httpCode: 428, data: { message: 'not now' } };
  const collection = await world.createCollection();
  const stoa = stoaAt({ data: world.run.dataDir });
  const { url, close } = await serve(client);
  try {
    const hooks = HOOKS.flatMap((it) => ['--hook', `${collection}_${it}`]);
    await stoa.command('hooks', 'connect', url, '--app', app.id, ...hooks);
    const { items } = world.app;
    const made = await items.insert(collection, { title: 'one', at: new Date(0) });
    assert.deepEqual([made.title, made.at], ['one!', new Date(0)]);
    const { metadata, request } = questions[0];
    assert.deepEqual([metadata.instanceId, metadata.identity.identityType], [world.run.siteId, 'APP']);
    assert.deepEqual([request.collectionId, request.items[0].title], [collection, 'one']);
    assert.equal((await items.update(collection, { _id: made._id, title: 'x' })).title, 'was one!');
    const thrown = await failure(items.insert(collection, { n: 1 }));
    assert.deepEqual([thrown.name, thrown.message], ['RangeError', 'no title']);
    assert.match((await failure(items.insert(collection, { title: 'later' }))).message, /not now/);
    const before = questions.length;
    const bulk = await items.bulkInsert(collection, [{ title: 'a' }, { n: 2 }, { title: 'b' }]);
    assert.deepEqual([bulk.inserted, bulk.errors.length, questions.length - before], [2, 1, 1]);
    const found = await items.query(collection).ascending('title').find();
    assert.deepEqual(
      found.items.map((it) => [it.title, it.seen]),
      [
        ['a!', true],
        ['b!', true],
        ['was one!', true],
      ],
    );
  } finally {
    close();
    // A version that asks nothing.
    await stoa.command('hooks', 'deploy', '/dev/null');
  }
}

/** @type {Row[]} */
export const rows = [
  {
    method: 'servicePlugins.processRequest',
    check: 'answers hooks of items',
    required: true,
    run: answers,
  },
];
