// What the client throws: codes, shapes and the request id.
import { assert, codeOf, failsWith, failure } from '../lib/expect.mjs';
import { shelf } from './shelf.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @type {(method: string, check: string, run: (world: World) => unknown) => Row} */
const row = (method, check, run) => ({
  method: `items.${method}`,
  check: `error: ${check}`,
  required: true,
  compare: true,
  run,
});

/** @type {[string, (items: World['app']['items'], id: string) => Promise<unknown>][]} */
const CALLS = [
  ['query', (items, id) => items.query(id).find()],
  ['count', (items, id) => items.query(id).count()],
  ['get', (items, id) => items.get(id, 'x')],
  ['insert', (items, id) => items.insert(id, { title: 'x' })],
  ['update', (items, id) => items.update(id, { _id: 'x' })],
  ['save', (items, id) => items.save(id, { _id: 'x' })],
  ['remove', (items, id) => items.remove(id, 'x')],
  ['bulkInsert', (items, id) => items.bulkInsert(id, [{ title: 'x' }])],
];

/** @type {Row[]} */
export const rows = [
  ...CALLS.map(([method, call]) =>
    row(method, 'an unknown collection is WDE0025', async (world) => {
      for (const name of ['no-such-collection', '', "x'; DROP TABLE items; --", '../secret', 'Ns/no-such', 'é😀']) {
        for (const caller of [world.app, world.visitor()]) {
          const error = await failure(call(caller.items, name));
          const code = String(codeOf(error));
          // An empty name may also be refused as malformed.
          assert.ok(
            code === 'WDE0025' || (name === '' && /^WDE00(01|75|80)$/.test(code)),
            `"${name}": ${error.message} [${code}]`,
          );
          assert.match(error.message, /^WDE\d{4}: /);
        }
      }
      const { status } = world.recorder.last();
      assert.equal(status, 404);
      return status;
    }),
  ),
  ...CALLS.map(([method, call]) =>
    row(method, 'without the right it is WDE0027', async (world) => {
      const id = await world.once('closed', () =>
        world.createCollection({
          permissions: { read: 'ADMIN', insert: 'ADMIN', update: 'ADMIN', remove: 'ADMIN' },
          dataPermissions: {
            itemRead: 'PRIVILEGED',
            itemInsert: 'PRIVILEGED',
            itemUpdate: 'PRIVILEGED',
            itemRemove: 'PRIVILEGED',
          },
        }),
      );
      const error = await failsWith(call(world.visitor().items, id), 'WDE0027');
      assert.equal(world.recorder.last().status, 403);
      return error.message.replace(id, 'c');
    }),
  ),
  row('insert', 'a taken id is WDE0074', async (world) => {
    const id = await shelf(world);
    const error = await failsWith(world.app.items.insert(id, { _id: 'a', title: 'other' }), 'WDE0074');
    assert.equal(world.recorder.last().status, 409);
    assert.equal((await world.app.items.get(id, 'a'))?.title, 'Alpha');
    return error.message.replace(id, 'c');
  }),
  row('insert', 'ids that a client could never get again are refused', async (world) => {
    const id = await world.createCollection();
    const codes = [];
    for (const _id of ['', 'a?b', 'a#b', 'nul\u0000', 'x'.repeat(10_000)]) {
      const error = await failure(world.app.items.insert(id, { _id }));
      const code = codeOf(error);
      assert.match(String(code), /^WDE\d{4}$/, `${_id.slice(0, 10)}: ${error.message}`);
      assert.equal(world.recorder.last().status, 400);
      codes.push(code);
    }
    assert.equal(await world.app.items.count(id), 0);
    return codes;
  }),
  row('insert', 'values that cannot be kept are refused', async (world) => {
    const id = await world.createCollection();
    /** @type {object} */
    let nested = { end: 1 };
    for (let i = 0; i < 40; i += 1) nested = { nested };
    /** @type {[string, object, string][]} */
    const cases = [
      ['U+0000', { title: 'a\u0000b' }, 'WDE0080'],
      ['a lone surrogate', { title: 'a\ud800b' }, 'WDE0080'],
      ['U+0000 in a name', { 'a\u0000b': 1 }, 'WDE0080'],
      ['a name with $', { $set: 1 }, 'WDE0134'],
      ['40 levels', nested, 'WDE0168'],
      ['600 kB', { title: 'x'.repeat(600_000) }, 'WDE0009'],
    ];
    for (const [what, item, code] of cases) {
      const error = await failsWith(world.app.items.insert(id, item), code);
      assert.equal(world.recorder.last().status, 400, `${what}: ${error.message}`);
    }
    assert.equal(await world.app.items.count(id), 0);
  }),
  row('bulkInsert', 'more than 4 MB is WDE0109, and the answer arrives while the client still sends', async (world) => {
    const id = await world.createCollection();
    for (const count of [12, 24, 24, 24, 60]) {
      const error = await failure(
        world.app.items.bulkInsert(
          id,
          Array.from({ length: count }, () => ({ title: 'x'.repeat(450_000) })),
        ),
      );
      assert.equal(error.code, 'WDE0109', `${count} items of 450 kB: ${error.message} ${error.cause ?? ''}`);
      assert.equal(world.recorder.last().status, 413);
    }
    assert.equal(await world.app.items.count(id), 0);
  }),
  row('query', 'what is wrong with the request is said by field or code', async (world) => {
    const id = await shelf(world);
    /** @type {object[]} */
    const requests = [
      { paging: { limit: -1 } },
      { paging: { limit: 'ten' } },
      { paging: { limit: 5, offset: -5 } },
      { fields: 'title' },
      { filter: { n: { $in: 3 } } },
      { filter: { title: { $startsWith: 3 } } },
      { filter: { $and: {} } },
    ];
    for (const request of requests) {
      await failure(world.app.items.query(id, request));
      const { status, answer } = world.recorder.last();
      assert.equal(status, 400, JSON.stringify(request));
      const { message, details } = JSON.parse(answer);
      assert.ok(
        message && (details.applicationError?.code ?? details.validationError?.fieldViolations[0].field),
        answer,
      );
    }
  }),
];
