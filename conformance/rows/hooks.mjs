// A site's own code around calls on items (docs/hooks.md): in the form that existing sites have, asked by the unmodified
// client. All of it is one file, deployed once, with hooks of the collections of these rows only.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, member } from '../lib/expect.mjs';
import { text } from '../lib/parse.mjs';
import { stoaAt } from '../lib/stoa.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @typedef {World['app']['items']} Items */
/** @typedef {{ suppressHooks: boolean }} Options */
/** @typedef {'before' | 'after'} Phase */
/** @typedef {'value' | 'error' | 'thrown' | 'rejected'} End   how a hook ends */
/** @typedef {{ example: string, of: Record<Phase, Record<End, string>> }} Hooked   the collections */

/** @type {Phase[]} */
const PHASES = ['before', 'after'];
/** @type {End[]} */
const FAILURES = ['error', 'thrown', 'rejected'];

/** What hooks that fail do, and what the client throws then. @type {Record<string, { code: string, error: unknown }>} */
const FAILING = {
  error: {
    code: "throw Object.assign(new RangeError('no'), { code: 'NO' });",
    error: { name: 'RangeError', message: 'no', code: 'NO' },
  },
  thrown: { code: 'throw { why: 1 };', error: { why: 1 } },
  rejected: {
    code: "return Promise.reject(new TypeError('late'));",
    error: { name: 'TypeError', message: 'late', code: undefined },
  },
};

/** What hooks that answer a value make of their argument, before and after. @type {[noun: string, before: string, after: string][]} */
const VALUES = [
  ['Insert', 'it.n = 7; return it;', 'it.n = 7; return it;'],
  ['Update', 'it.n = 7; return it;', 'it.n = 7; return it;'],
  ['Remove', 'return it;', 'it.n = 7; return it;'],
  ['Get', "return 'b';", 'it.n = 7; return it;'],
  ['Query', "return it.eq('_id', 'b');", 'it.n = 7; return it;'],
  ['Count', "return it.eq('_id', 'b');", 'return 7;'],
  ['Distinct', "return it.eq('_id', 'b');", 'return [7];'],
];

/** Hooks as sites have them. @param {string} id the collection */
const example = (id) =>
  `
export function ${id}_beforeInsert(item, context) {
  let hookContext = context;
  item.title = item.title.toUpperCase();
  item.madeBy = hookContext.userRole;
  return item;
}

export async function ${id}_beforeUpdate(item, context) {
  if (!/^[^@]+@[^@]+$/.test(item.email)) {
    return Promise.reject('The email address is invalid.');
  }
  item.edits = (context.currentItem.edits || 0) + 1;
  return item;
}

export const ${id}_beforeQuery = (query, context) => query.ne('status', 'hidden').ascending('title');

export function ${id}_afterQuery(item, context) {
  item.fullTitle = context.collectionName === '${id}' && item.born instanceof Date
    ? item.title + ', ' + item.born.getUTCFullYear()
    : item.title;
  return item;
}

export function ${id}_beforeRemove(itemId, context) {
  return context.currentItem.status === 'kept' ? Promise.reject(new Error('This item is kept.')) : itemId;
}

export const ${id}_afterCount = async (count, context) => count * 10;
`;

/** @param {Phase} phase @param {End} end @param {string} id the collection */
const hooksOf = (phase, end, id) =>
  VALUES.map(([noun, before, after]) => {
    const body = end === 'value' ? { before, after }[phase] : FAILING[end].code;
    return `export function ${id}_${phase}${noun}(it) { ${body} }\n`;
  }).join('');

/** The collections of these rows, and their code deployed. @param {World} world @returns {Promise<Hooked>} */
const hooked = (world) =>
  world.once('hooked', async () => {
    const idOf = async () => world.createCollection({ fields: [{ key: 'title', type: 'TEXT' }] });
    const ends = async () => ({
      value: await idOf(),
      error: await idOf(),
      thrown: await idOf(),
      rejected: await idOf(),
    });
    const collections = { example: await idOf(), of: { before: await ends(), after: await ends() } };
    const all = PHASES.flatMap((phase) =>
      Object.entries(collections.of[phase]).map(([end, id]) => hooksOf(phase, /** @type {End} */ (end), id)),
    );
    await deploy(world, [example(collections.example), ...all].join(''));
    return collections;
  });

/** @param {World} world @param {string} source */
async function deploy(world, source) {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-hooks-'));
  try {
    const file = join(folder, 'data.js');
    writeFileSync(file, source);
    const deployed = await stoaAt({ data: world.run.dataDir }).command('hooks', 'deploy', file);
    text(deployed, 'exports');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A call that sends 3 as the `n` of what it writes: what it answers of it, what it answers without hooks, after a hook
 * before it and after one after it, and what of the items it leaves without them.
 * @typedef {{ method: string, ask: (items: Items, id: string, options?: Options) => Promise<unknown>, values: [unknown, unknown, unknown], leaves: object }} Call
 */

/** @param {{ errors: { code?: string }[] }} result what many items came to, as codes */
const codes = (result) => result.errors.map(({ code }) => code);
const FIRST = { a: 1, b: 2 };
const [WROTE_A, WROTE_NEW] = [
  { a: 3, b: 2 },
  { a: 1, b: 2, new: 3 },
];

/** @type {Call[]} */
const CALLS = [
  {
    method: 'insert',
    ask: async (items, id, options) => (await items.insert(id, { _id: 'new', n: 3 }, options)).n,
    values: [3, 7, 7],
    leaves: WROTE_NEW,
  },
  {
    method: 'update',
    ask: async (items, id, options) => (await items.update(id, { _id: 'a', n: 3 }, options)).n,
    values: [3, 7, 7],
    leaves: WROTE_A,
  },
  {
    method: 'save',
    ask: async (items, id, options) => (await items.save(id, { _id: 'new', n: 3 }, options)).n,
    values: [3, 7, 7],
    leaves: WROTE_NEW,
  },
  {
    method: 'patch',
    ask: async (items, id, options) => (await items.patch(id, 'a').setField('n', 3).run(options)).n,
    values: [3, 7, 7],
    leaves: WROTE_A,
  },
  {
    method: 'remove',
    ask: async (items, id, options) => (await items.remove(id, 'a', options))?.n,
    values: [1, 1, 7],
    leaves: { b: 2 },
  },
  {
    method: 'get',
    ask: async (items, id, options) => (await items.get(id, 'a', options))?.n,
    values: [1, 2, 7],
    leaves: FIRST,
  },
  {
    method: 'query',
    ask: async (items, id, options) => (await items.query(id).ascending('n').find(options)).items.map(({ n }) => n),
    values: [[1, 2], [2], [7, 7]],
    leaves: FIRST,
  },
  { method: 'count', ask: (items, id, options) => items.query(id).count(options), values: [2, 1, 7], leaves: FIRST },
  {
    method: 'distinct',
    ask: async (items, id, options) => (await items.query(id).distinct('n', options)).items,
    values: [[1, 2], [2], [7]],
    leaves: FIRST,
  },
  {
    method: 'bulkInsert',
    ask: async (items, id, options) => codes(await items.bulkInsert(id, [{ _id: 'new', n: 3 }], options)),
    values: [[], [], []],
    leaves: WROTE_NEW,
  },
  {
    method: 'bulkUpdate',
    ask: async (items, id, options) => codes(await items.bulkUpdate(id, [{ _id: 'a', n: 3 }], options)),
    values: [[], [], []],
    leaves: WROTE_A,
  },
  {
    method: 'bulkSave',
    ask: async (items, id, options) => codes(await items.bulkSave(id, [{ _id: 'new', n: 3 }], options)),
    values: [[], [], []],
    leaves: WROTE_NEW,
  },
  {
    method: 'bulkPatch',
    ask: async (items, id, options) => codes(await items.bulkPatch(id, ['a']).setField('n', 3).run(options)),
    values: [[], [], []],
    leaves: WROTE_A,
  },
  {
    method: 'bulkRemove',
    ask: async (items, id, options) => codes(await items.bulkRemove(id, ['a'], options)),
    values: [[], [], []],
    leaves: { b: 2 },
  },
];

/** The items of a collection, without hooks, as `n` by id. @param {World} world @param {string} id */
async function stored(world, id) {
  const { items } = await world.app.items.query(id).find({ suppressHooks: true });
  return Object.fromEntries(items.map(({ _id, n }) => [_id, n]));
}

/** @param {World} world @param {string} id */
async function fill(world, id) {
  await world.app.items.truncate(id);
  const items = [
    { _id: 'a', n: 1 },
    { _id: 'b', n: 2 },
  ];
  await world.app.items.bulkInsert(id, items, { suppressHooks: true });
}

/** What a promise is rejected with, which may be any value: of an error what hooks give it. @param {Promise<unknown>} promise */
async function rejected(promise) {
  const [{ reason }] = /** @type {PromiseRejectedResult[]} */ (await Promise.allSettled([promise]));
  if (!(reason instanceof Error)) return reason;
  return { name: reason.name, message: reason.message, code: member(reason, 'code') };
}

/** @param {World} world @param {Call} call @param {Phase} phase */
async function checkValue(world, { ask, values, leaves }, phase) {
  const id = (await hooked(world)).of[phase].value;
  await fill(world, id);
  const [, before, after] = values;
  assert.deepEqual(await ask(world.visitor().items, id), phase === 'before' ? before : after, phase);
  // What a hook before a write makes of the item is stored, what one after it makes is not.
  const isChanged = phase === 'before' && Object.values(leaves).includes(3);
  const expected = Object.entries(leaves).map(([key, n]) => [key, isChanged && n === 3 ? 7 : n]);
  assert.deepEqual(await stored(world, id), Object.fromEntries(expected), phase);
}

/** @param {World} world @param {Call} call @param {Phase} phase @param {End} end */
async function checkFailure(world, { method, ask, leaves }, phase, end) {
  const id = (await hooked(world)).of[phase][end];
  await fill(world, id);
  const asked = ask(world.visitor().items, id);
  if (method.startsWith('bulk')) assert.deepEqual(await asked, ['WDE0078'], `${phase} ${end}`);
  else assert.deepEqual(await rejected(asked), FAILING[end].error, `${phase} ${end}`);
  // What fails before blocks, what fails after doesn't undo.
  assert.deepEqual(await stored(world, id), phase === 'before' ? FIRST : leaves, `${phase} ${end}`);
}

/** @type {(method: string, check: string, run: (world: World) => unknown) => Row} */
const row = (method, check, run) => ({ method: `items.${method}`, check, required: true, compare: true, run });

/** @type {Row[]} */
export const rows = [
  ...CALLS.map((call) =>
    row(call.method, 'hooks before and after change it, or refuse it with what they throw', async (world) => {
      for (const phase of PHASES) {
        await checkValue(world, call, phase);
        for (const end of FAILURES) await checkFailure(world, call, phase, end);
      }
    }),
  ),
  ...CALLS.map((call) =>
    row(call.method, 'suppressHooks counts for a key, and without effect for a visitor', async (world) => {
      const id = (await hooked(world)).of.before.error;
      const options = { suppressHooks: true };
      await fill(world, id);
      assert.deepEqual(await call.ask(world.app.items, id, options), call.values[0]);
      assert.deepEqual(await stored(world, id), call.leaves);
      await fill(world, id);
      const asked = call.ask(world.visitor().items, id, options);
      if (call.method.startsWith('bulk')) assert.deepEqual(await asked, ['WDE0078']);
      else assert.deepEqual(await rejected(asked), FAILING.error.error);
      assert.deepEqual(await stored(world, id), FIRST);
    }),
  ),
  row('insert', "hooks in the form of existing sites' data.js", async (world) => {
    const { example: id } = await hooked(world);
    const { items } = world.visitor();
    const made = await items.insert(id, { _id: 'a', title: 'alpha', email: 'a@b', born: new Date('1999-01-01') });
    assert.deepEqual([made.title, made.madeBy], ['ALPHA', 'anonymous']);
    await items.insert(id, { _id: 'b', title: 'beta', status: 'hidden' });
    await items.insert(id, { _id: 'c', title: '_', status: 'kept', email: 'c@d' });
    assert.equal(
      await rejected(items.update(id, { _id: 'b', title: 'b', email: 'none' })),
      'The email address is invalid.',
    );
    const updated = await items.patch(id, 'a').setField('email', 'c@d').run();
    assert.deepEqual([updated.title, updated.edits, updated.born], ['ALPHA', 1, new Date('1999-01-01')]);
    const found = await items.query(id).find();
    assert.deepEqual(
      found.items.map(({ fullTitle }) => fullTitle),
      ['ALPHA, 1999', '_'],
    );
    const kept = { name: 'Error', message: 'This item is kept.', code: undefined };
    assert.deepEqual(await rejected(items.remove(id, 'c')), kept);
    assert.equal((await items.remove(id, 'a'))?._id, 'a');
    assert.equal(await items.count(id), 20);
    const member = await world.member('ann');
    assert.equal((await member.client.items.insert(id, { title: 'm' })).madeBy, 'siteMember');
    assert.equal((await world.app.items.insert(id, { title: 'k' })).madeBy, 'siteOwner');
    return found.items.map(({ _id }) => _id);
  }),
];
