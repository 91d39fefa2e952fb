// The five permission levels, as each kind of caller meets them. A cell is what the client gets:
// `all`, `own`, `none` for reads; `yes`, `no` (WDE0027), `unseen` (WDE0073 or null) for writes.
import { assert, failsWith, identified, member, present, untyped } from '../lib/expect.mjs';
import { messageOf } from '../lib/parse.mjs';

/** @import { permissions } from '@wix/data' */
/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

const LEVELS = ['ANYONE', 'SITE_MEMBER', 'SITE_MEMBER_AUTHOR', 'CMS_EDITOR', 'PRIVILEGED'];

/** One word for what came of a call. @template T @param {Promise<T>} promise @param {(value: T) => string} word */
async function outcome(promise, word) {
  try {
    return word(await promise);
  } catch (error) {
    const code = member(member(member(error, 'details'), 'applicationError'), 'code');
    return code === 'WDE0027' ? 'no' : code === 'WDE0073' ? 'unseen' : messageOf(error);
  }
}

const written = (/** @type {unknown} */ value) => (value === null ? 'unseen' : 'yes');

/** What a caller sees of a collection with one item of a member and one of the application. @param {number} count */
const seen = (count) => ({ 0: 'none', 1: 'own', 2: 'all' })[count] ?? String(count);

/** @param {World} world @param {string} level */
async function collectionAt(world, level) {
  const id = await world.createCollection({
    permissions: undefined,
    dataPermissions: { itemRead: level, itemInsert: level, itemUpdate: level, itemRemove: level },
  });
  const { id: author } = await world.member('author');
  return { id, author };
}

/** Fills a collection again, whatever the rights, so that each caller meets the same. @param {World} world @param {string} id */
async function refill(world, id) {
  const { client } = await world.member('author');
  for (const _id of ['mine', 'theirs', 'new']) await world.app.items.remove(id, _id);
  await world.app.items.insert(id, { _id: 'theirs', secret: 2 });
  const { id: author } = await world.member('author');
  // The application may name the owner; a member may not insert under every level.
  const made = await world.app.items.insert(id, { _id: 'mine', secret: 1, _owner: author });
  assert.equal(made._owner, author, 'an application may set _owner');
  return client;
}

/** @typedef {Pick<World['app'], 'items' | 'permissions'>} Caller */

/** The callers of the matrix; each is made when it is first asked for. @type {Record<string, (world: World) => Caller | Promise<Caller>>} */
const CALLERS = {
  visitor: (world) => world.visitor(),
  author: async (world) => (await world.member('author')).client,
  'other member': async (world) => (await world.member('other')).client,
  owner: (world) => world.owner(),
  'api key': (world) => world.app,
};

// caller → level → [read, insert, update mine, update theirs, remove mine]
const NO = ['no', 'no', 'no', 'no', 'no'];
const YES = ['all', 'yes', 'yes', 'yes', 'yes'];
const EXPECTED = /** @type {Record<string, Record<string, (string | RegExp)[]>>} */ ({
  visitor: {
    ANYONE: YES,
    SITE_MEMBER: NO,
    CMS_EDITOR: NO,
    PRIVILEGED: NO,
    SITE_MEMBER_AUTHOR: ['none', 'no', /^(no|unseen)$/, /^(no|unseen)$/, /^(no|unseen)$/],
  },
  author: {
    ANYONE: YES,
    SITE_MEMBER: YES,
    CMS_EDITOR: NO,
    PRIVILEGED: NO,
    SITE_MEMBER_AUTHOR: ['own', 'yes', 'yes', 'unseen', 'yes'],
  },
  'other member': {
    ANYONE: YES,
    SITE_MEMBER: YES,
    CMS_EDITOR: NO,
    PRIVILEGED: NO,
    SITE_MEMBER_AUTHOR: ['none', 'yes', 'unseen', 'unseen', 'unseen'],
  },
  owner: { ANYONE: YES, SITE_MEMBER: YES, SITE_MEMBER_AUTHOR: YES, CMS_EDITOR: YES, PRIVILEGED: YES },
  'api key': { ANYONE: YES, SITE_MEMBER: YES, SITE_MEMBER_AUTHOR: YES, CMS_EDITOR: YES, PRIVILEGED: YES },
});

/** @type {permissions.SpecialPermissions} */
const SPECIAL = {
  userId: 'user-1',
  itemRead: 'ALLOWED',
  itemInsert: 'UNSPECIFIED',
  itemUpdate: 'UNSPECIFIED',
  itemRemove: 'UNSPECIFIED',
};

/** A call of the permissions module. @type {(name: string, check: string, run: (world: World, id: string) => Promise<void>) => Row} */
const call = (name, check, run) => ({
  method: `permissions.${name}`,
  check,
  required: true,
  run: async (world) => run(world, await world.createCollection()),
});

/** @type {Row[]} */
export const rows = [
  ...LEVELS.flatMap((level) =>
    Object.keys(EXPECTED).map((who) => ({
      method: 'items.query',
      check: `permission ${level} for ${who}`,
      required: true,
      compare: true,
      async run(/** @type {World} */ world) {
        const { id } = await world.once(`level ${level}`, () => collectionAt(world, level));
        await refill(world, id);
        const { items } = await CALLERS[who](world);
        const cells = [
          await outcome(items.query(id).find(), (page) => seen(page.items.length)),
          await outcome(items.insert(id, { _id: 'new' }), written),
          await outcome(items.update(id, { _id: 'mine', secret: 3 }), written),
          await outcome(items.update(id, { _id: 'theirs', secret: 3 }), written),
          await outcome(items.remove(id, 'mine'), written),
        ];
        const expected = EXPECTED[who][level];
        cells.forEach((cell, i) => {
          const wanted = expected[i];
          const fits = wanted instanceof RegExp ? wanted.test(cell) : wanted === cell;
          assert.ok(
            fits,
            `[read, insert, update mine, update theirs, remove mine]: expected ${expected}, got ${cells}`,
          );
        });
        return cells;
      },
    })),
  ),
  {
    method: 'items.query',
    check: 'permission: filter, sort, projection, count and get show no more than a read',
    required: true,
    compare: true,
    async run(world) {
      const { id } = await world.once('level SITE_MEMBER_AUTHOR', () => collectionAt(world, 'SITE_MEMBER_AUTHOR'));
      const { items } = await refill(world, id);
      const visitor = world.visitor().items;
      const cells = [
        (await items.query(id).eq('secret', 2).find()).items.length,
        (await items.query(id).or(items.filter().eq('secret', 2)).find()).items.length,
        (await items.query(id).not(items.filter().eq('secret', 1)).find()).items.length,
        (await items.query(id).descending('secret').fields('secret').find()).items.length,
        (await items.query(id).find({ returnTotalCount: true })).totalCount,
        await items.query(id).gt('secret', 0).count(),
        await items.get(id, 'theirs'),
        (await items.query(id, { filter: { $or: [{}, { _owner: { $exists: true } }] } })).items.length,
        await visitor.query(id).count(),
        await visitor.get(id, 'mine'),
      ];
      assert.deepEqual(cells, [0, 1, 0, 1, 1, 1, null, 1, 0, null]);
      return cells;
    },
  },
  {
    method: 'items.get',
    check: 'permission: a level without the right is WDE0027 for get, count and total alike',
    required: true,
    compare: true,
    async run(world) {
      const cells = [];
      for (const level of ['SITE_MEMBER', 'CMS_EDITOR', 'PRIVILEGED']) {
        const { id } = await world.once(`level ${level}`, () => collectionAt(world, level));
        await refill(world, id);
        const { items } = world.visitor();
        cells.push(await outcome(items.get(id, 'mine'), written));
        cells.push(await outcome(items.get(id, 'no-such-item'), written));
        cells.push(await outcome(items.query(id).count(), String));
        cells.push(await outcome(items.query(id).eq('_id', 'no-such-item').find({ returnTotalCount: true }), String));
      }
      assert.ok(
        cells.every((cell) => cell === 'no'),
        String(cells),
      );
      return cells;
    },
  },
  {
    method: 'items.bulkInsert',
    check: 'permission: suppressAuth changes nothing for a visitor',
    required: true,
    async run(world) {
      const { id } = await world.once('level SITE_MEMBER', () => collectionAt(world, 'SITE_MEMBER'));
      const word = await outcome(
        world.visitor().items.bulkInsert(id, [{ a: 1 }], untyped({ suppressAuth: true })),
        (result) => `inserted ${result.inserted}`,
      );
      assert.ok(['no', 'inserted 0'].includes(word), word);
    },
  },
  call('getPermissions', 'the levels of the collection', async (world, id) => {
    const answer = await world.app.permissions.getPermissions(id);
    const permissions = answer.dataPermissions;
    assert.equal(permissions?._id, id);
    assert.equal(permissions?.itemRead, 'ANYONE');
    assert.deepEqual(permissions?.specialPermissions, []);
  }),
  call('updatePermissions', 'changes the levels, which the collection shows in both models', async (world, id) => {
    const itemRead = 'SITE_MEMBER_AUTHOR';
    await world.app.permissions.updatePermissions({ _id: id, itemRead, itemInsert: 'SITE_MEMBER' });
    const collection = await world.app.collections.getDataCollection(id);
    assert.equal(member(member(collection, 'dataPermissions'), 'itemInsert'), 'SITE_MEMBER');
    assert.equal(collection.permissions?.read, itemRead);
  }),
  call('getMyPermissions', 'of a visitor and of an app', async (world, id) => {
    await world.app.permissions.updatePermissions({
      _id: id,
      itemRead: 'ANYONE',
      itemInsert: 'SITE_MEMBER',
      itemUpdate: 'CMS_EDITOR',
      itemRemove: 'PRIVILEGED',
    });
    const rights = async (/** @type {Caller} */ client) => {
      const mine = await client.permissions.getMyPermissions(id);
      return [mine.itemRead, mine.itemInsert, mine.itemUpdate, mine.itemRemove];
    };
    assert.deepEqual(await rights(world.visitor()), [true, false, false, false]);
    assert.deepEqual(await rights(world.app), [true, true, true, true]);
  }),
  call('addSpecialPermissions', 'a member with a special read sees what others may not', async (world, id) => {
    await world.app.permissions.updatePermissions({ _id: id, itemRead: 'CMS_EDITOR' });
    await world.app.items.insert(id, { _id: 'secret' });
    const { client, id: member } = await world.member('author');
    assert.equal(await outcome(client.items.query(id).find(), (page) => seen(page.items.length)), 'no');
    const added = await world.app.permissions.addSpecialPermissions(id, { userId: member, itemRead: 'ALLOWED' });
    const special = identified(present(added.specialPermissions));
    assert.equal(special.itemInsert, 'UNSPECIFIED');
    assert.equal((await client.items.query(id).find()).items.length, 1);
    assert.equal((await client.permissions.getMyPermissions(id)).itemRead, true);
    await failsWith(world.app.permissions.addSpecialPermissions(id, { userId: member }), 'ALREADY_EXISTS');
  }),
  call('updateSpecialPermissions', 'adds a right', async (world, id) => {
    const added = await world.app.permissions.addSpecialPermissions(id, SPECIAL);
    const changed = await world.app.permissions.updateSpecialPermissions(present(added.specialPermissions?._id), {
      itemInsert: 'ALLOWED',
    });
    assert.equal(changed.specialPermissions?.itemInsert, 'ALLOWED');
    assert.equal(changed.specialPermissions?.itemRead, 'ALLOWED');
  }),
  call('removeSpecialPermissions', 'falls back to the level', async (world, id) => {
    const added = await world.app.permissions.addSpecialPermissions(id, SPECIAL);
    await world.app.permissions.removeSpecialPermissions(present(added.specialPermissions?._id));
    const { dataPermissions } = await world.app.permissions.getPermissions(id);
    assert.deepEqual(dataPermissions?.specialPermissions, []);
  }),
];
