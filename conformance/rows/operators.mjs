// Every filter operator and composition of the query language (operator-cases.mjs), and what is refused.
import { assert, failsWith } from '../lib/expect.mjs';
import { BUILT, idsOf, plain, RAW, wide, wideFilter } from './operator-cases.mjs';
import { items as stored, shelf } from './shelf.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** Raw filters that must be refused. @type {[string, object, string][]} */
const REFUSED = [
  ['$regex', { title: { $regex: 'a' } }, 'WDE0070'],
  ['$regex deep inside', { $and: [{ $not: { title: { $regex: 'a' } } }] }, 'WDE0070'],
  ['an unknown operator', { n: { $near: 1 } }, 'WDE0093'],
  ['an unknown logical operator', { $nor: [{ n: 1 }] }, 'WDE0093'],
  ['17 levels', deep(17), 'WDE0169'],
  ['100 levels', deep(100), 'WDE0169'],
];

/** @param {number} levels */
function deep(levels) {
  let filter = /** @type {object} */ ({ n: 1 });
  for (let i = 0; i < levels; i += 1) filter = { $not: filter };
  return filter;
}

/** @type {Row[]} */
export const rows = [
  ...BUILT.map(([check, build, expected]) => ({
    method: 'items.query',
    check,
    required: true,
    compare: true,
    async run(/** @type {World} */ world) {
      const { items } = world.visitor();
      const found = await build(wide(items.query(await shelf(world))), () => wideFilter(items.filter()))
        .limit(100)
        .find();
      assert.equal(idsOf(found), expected);
      return idsOf(found);
    },
  })),
  ...RAW.map(([check, filter, expected]) => ({
    method: 'items.query',
    check: `raw: ${check}`,
    required: true,
    compare: true,
    async run(/** @type {World} */ world) {
      const found = await world
        .visitor()
        .items.query(await shelf(world), { filter: plain(filter), paging: { limit: 100 } });
      assert.equal(idsOf(found), expected);
      return idsOf(found);
    },
  })),
  ...REFUSED.map(([check, filter, code]) => ({
    method: 'items.query',
    check: `refused: ${check}`,
    required: true,
    run: async (/** @type {World} */ world) => {
      const id = await shelf(world);
      for (const caller of [world.visitor(), world.app]) await failsWith(caller.items.query(id, { filter }), code);
    },
  })),
  {
    method: 'items.query',
    check: 'short by GET, long by POST, with equal results',
    required: true,
    compare: true,
    async run(world) {
      const { items } = world.visitor();
      const id = await shelf(world);
      const padding = Array.from({ length: 120 }, (_, i) => `no-such-item-number-${i}`);
      const short = await items.query(id).gt('n', 3).find();
      const long = await wide(items.query(id))
        .gt('n', 3)
        .in('_id', [...stored.map(({ _id }) => _id), ...padding])
        .find();
      const sent = world.recorder
        .since(0)
        .filter(({ url }) => url.includes('/items/query'))
        .slice(-2);
      assert.deepEqual(
        sent.map(({ method }) => method),
        ['GET', 'POST'],
      );
      assert.equal(idsOf(long), idsOf(short));
      return idsOf(long);
    },
  },
  {
    method: 'items.count',
    check: 'every case counts what it finds',
    required: true,
    compare: true,
    async run(world) {
      const { items } = world.visitor();
      const id = await shelf(world);
      const counts = [];
      for (const [check, build, expected] of BUILT) {
        const count = await build(wide(items.query(id)), () => wideFilter(items.filter())).count();
        assert.equal(count, expected.length, check);
        counts.push(count);
      }
      return counts;
    },
  },
  {
    method: 'items.count',
    check: 'without a filter',
    required: true,
    async run(world) {
      assert.equal(await world.visitor().items.count(await shelf(world)), stored.length);
    },
  },
];
