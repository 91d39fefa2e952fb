// What is counted of drawn requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { succeeded } from './counts.mjs';

const description = { paths: { '/a': { get: {}, post: {} }, '/b/{id}': { parameters: [], delete: {}, patch: {} } } };

test('half of the operations must answer with success', () => {
  const run = (...good) => Object.fromEntries(good.map((it) => [it, { 200: 3, 404: 5 }]));
  const refused = { 'PATCH /b/{id}': { 400: 7 } };
  const half = succeeded(description, [run('GET /a'), { ...run('DELETE /b/{id}'), ...refused }]);
  assert.equal(half.isEnough, true);
  assert.deepEqual(half.lines, [
    'no success: POST /a (not asked)',
    'no success: PATCH /b/{id} (400)',
    '23 requests; 2 of 4 operations answered with success',
  ]);
  assert.equal(succeeded(description, [run('GET /a'), refused]).isEnough, false);
  assert.equal(succeeded({ paths: {} }, []).isEnough, false);
});
