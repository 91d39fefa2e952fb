// Helpers of the client object.
import { auditServer } from 'graphql-http';
import { assert } from '../lib/expect.mjs';
import { text } from '../lib/parse.mjs';
import { items as stored, shelf } from './shelf.mjs';

/** @import { Row } from '../lib/runner.mjs' */

/**
 * @template Result, Variables
 * @typedef {{ __apiType?: (variables: Variables) => Result }} TypedDocument
 */

/** What the audit says of the server beside its being right: documents are sent by POST alone, so that no address holds one. */
const AUDITED = [
  'notice 5A70 MAY accept application/x-www-form-urlencoded formatted GET requests',
  'notice D6D5 MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
  'notice 6A70 MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
];

/** @type {Row[]} */
export const rows = [
  {
    method: 'client.fetch',
    check: 'signs a raw call of an alias path',
    required: true,
    async run(world) {
      const body = JSON.stringify({ dataCollectionId: await shelf(world) });
      for (const path of ['/wix-data/v2', '/data/v2', '/wix-data/v1', '/_api/cloud-data/v2']) {
        const response = await world.visitor().fetch(`${path}/items/count`, { method: 'POST', body });
        assert.equal(response.status, 200, path);
        assert.deepEqual(await response.json(), { totalCount: stored.length }, path);
      }
    },
  },
  {
    method: 'client.fetchWithAuth',
    check: 'signs an absolute address',
    required: true,
    async run(world) {
      const { id, client } = await world.member('fetching');
      const response = await client.fetchWithAuth('https://www.wixapis.com/oauth2/user-info');
      assert.equal(text(await response.json(), 'sub'), id);
      const alias = await client.fetchWithAuth('https://www.wixapis.com/_api/oauth2/user-info');
      assert.equal(text(await alias.json(), 'sub'), id);
    },
  },
  {
    method: 'client.graphql',
    check: 'answers a query with variables',
    required: true,
    async run(world) {
      const id = await shelf(world);
      const query = `query ($filter: JSON) {
        page: ${id}(filter: $filter, sort: { field: "n" }) { totalCount items { _id title n when tags } }
        count: ${id}Count
        one: ${id}Item(id: "a") { title flag o }
      }`;
      const { data, errors } = await world.visitor().graphql(query, { filter: { n: { $lt: 2 }, title: { $ne: '' } } });
      assert.equal(errors, undefined);
      assert.deepEqual(data, {
        page: {
          totalCount: 2,
          items: [
            { _id: 'g', title: null, n: 0, when: null, tags: null },
            { _id: 'a', title: 'Alpha', n: 1, when: '2024-01-01T00:00:00.000Z', tags: ['red', 'blue'] },
          ],
        },
        count: stored.length,
        one: { title: 'Alpha', flag: true, o: { p: { q: 1 } } },
      });
    },
  },
  {
    method: 'client.graphql',
    check: 'answers a typed document',
    required: true,
    async run(world) {
      const id = await shelf(world);
      // As code generators make it: a text that carries the types of its answer and its variables.
      const document = /** @type {String & TypedDocument<{ one: { title: string } }, { id: string }>} */ (
        new String(`query Titles($id: ID!) { one: ${id}Item(id: $id) { title } }`)
      );
      const { data } = await world.visitor().graphql(document, { id: 'b' });
      assert.deepEqual(data, { one: { title: 'beta' } });
    },
  },
  {
    method: 'client.graphql',
    check: 'tells what is wrong in its answer',
    required: true,
    async run(world) {
      const { data, errors } = await world.visitor().graphql('{ nothingOfThisName { items { _id } } }');
      assert.deepEqual(data, {});
      assert.equal(errors?.length, 1);
      assert.match(String(errors?.[0].message), /nothingOfThisName/);
    },
  },
  {
    method: 'client.graphql',
    check: 'writes',
    required: true,
    async run(world) {
      const id = await world.createCollection({ fields: [{ key: 'n', type: 'NUMBER' }] });
      const name = id[0].toUpperCase() + id.slice(1);
      const query = `mutation ($item: JSON!) {
        insert: insert${name}(item: $item) { _id n }
        patch: patch${name}(id: "x", inc: { n: 2 }) { n }
        remove: remove${name}(id: "x") { n }
      }`;
      const { data } = await world.app.graphql(query, { item: { _id: 'x', n: 1 } });
      assert.deepEqual(data, { insert: { _id: 'x', n: 1 }, patch: { n: 3 }, remove: { n: 3 } });
    },
  },
  {
    method: 'client.graphql',
    check: 'meets GraphQL over HTTP, by the audit of graphql-http',
    required: true,
    async run(world) {
      // It asks for the schema, which visitors are not told.
      const client = world.app;
      const results = await auditServer({
        url: 'https://www.wixapis.com/graphql/v1',
        fetchFn: (/** @type {string} */ url, /** @type {RequestInit} */ init) => client.fetchWithAuth(url, init),
      });
      const found = results.filter((it) => it.status !== 'ok').map((it) => `${it.status} ${it.id} ${it.name}`);
      assert.deepEqual(found, AUDITED);
      assert.ok(results.length > 50, `${results.length} were tried`);
    },
  },
];
