// Helpers of the client object.
import { assert } from '../lib/expect.mjs';
import { text } from '../lib/parse.mjs';
import { items as stored, shelf } from './shelf.mjs';

/** @import { Row } from '../lib/runner.mjs' */

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
    check: 'answers a query',
    run: (world) => world.visitor().graphql('query { __typename }'),
  },
];
