// Reading and writing items: single, in bulk, sorted, projected, page by page.
import { assert, codeOf, failsWith, failure, present, undocumented, untyped } from '../lib/expect.mjs';
import { stoaAt } from '../lib/stoa.mjs';
import { wide } from './operator-cases.mjs';
import { items as stored, shelf } from './shelf.mjs';

/** @import { items } from '@wix/data' */
/** @import { QueryBuilder } from '../lib/types.js' */
/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @param {items.WixDataResult} result */
const order = (result) => result.items.map((item) => item._id).join('');

/** An item without what differs from run to run. @param {items.WixDataItem | null} item */
function own(item) {
  const { _createdDate, _updatedDate, _owner, ...rest } = present(item);
  return rest;
}

/** 120 items numbered from 0, made once. @param {World} world @returns {Promise<string>} */
function numbers(world) {
  return world.once('numbers', async () => {
    const id = await world.createCollection();
    await world.app.items.bulkInsert(
      id,
      Array.from({ length: 120 }, (_, n) => ({ _id: `n${n}`, n })),
    );
    return id;
  });
}

/** @param {{ items: items.WixDataItem[] }} page */
const ns = (page) => page.items.map((item) => item.n);
const range = (/** @type {number} */ from, /** @type {number} */ to) =>
  Array.from({ length: to - from }, (_, i) => from + i);

/** @type {(method: string, check: string, run: (world: World) => unknown, more?: object) => Row} */
const row = (method, check, run, more = { compare: true }) => ({
  method: `items.${method}`,
  check,
  required: true,
  run,
  ...more,
});

/** @type {Row[]} */
export const rows = [
  row('insert', 'adds what the server keeps', async (world) => {
    const id = await world.createCollection();
    const before = Date.now() - 5000;
    const made = await world.app.items.insert(id, { title: 'x' });
    assert.equal(typeof made._id, 'string');
    assert.ok(made._id.length >= 16, 'a generated id');
    assert.ok(made._createdDate instanceof Date && made._updatedDate instanceof Date, 'dates');
    assert.ok(made._createdDate.getTime() > before && made._createdDate.getTime() <= Date.now() + 5000);
    assert.deepEqual(await world.app.items.get(id, made._id), made);
    return own({ ...made, _id: 'x' });
  }),
  row('insert', 'every kind of value comes back as it went', async (world) => {
    const id = await world.createCollection();
    const item = {
      _id: 'values',
      id: 'own id',
      createdDate: 'own text',
      title: 'Ünïcödé 😀 "quoted" \\ / \u2028 end',
      numbers: [
        0,
        -1,
        0.1,
        1e21,
        1.5e-7,
        123456789012345680000,
        Number.MAX_SAFE_INTEGER,
        5e-324,
        1.7976931348623157e308,
      ],
      bool: [true, false],
      nothing: null,
      empty: { list: [], object: {}, text: '' },
      nested: { when: new Date('2024-03-05T06:07:08.009Z'), list: [{ at: new Date(0) }] },
      iso: '2024-03-05T06:07:08.009Z',
      'a key with spaces': 1,
      ключ: 'value',
      "quote'key": 1,
    };
    const made = await world.app.items.insert(id, item);
    const expected = { ...item };
    assert.deepEqual(own(made), expected);
    assert.deepEqual(own(await world.visitor().items.get(id, 'values')), expected);
    assert.deepEqual(own((await world.visitor().items.query(id).find()).items[0]), expected);
    return own(made);
  }),
  row(
    'insert',
    'the owner is the caller',
    async (world) => {
      const id = await world.createCollection();
      const { id: memberId, client } = await world.member('writing');
      const made = await client.items.insert(id, { title: 'x', _owner: 'someone else' });
      assert.equal(made._owner, memberId);
      const visitor = world.visitor();
      const first = await visitor.items.insert(id, { title: 'v' });
      const second = await visitor.items.insert(id, { title: 'v' });
      assert.ok(first._owner);
      assert.equal(first._owner, second._owner);
      assert.notEqual(first._owner, memberId);
    },
    {},
  ),
  row('insert', 'what a visitor wrote passes to the member that the visitor becomes', async (world) => {
    const id = await world.createCollection({
      permissions: undefined,
      dataPermissions: {
        itemRead: 'SITE_MEMBER_AUTHOR',
        itemInsert: 'ANYONE',
        itemUpdate: 'SITE_MEMBER_AUTHOR',
        itemRemove: 'SITE_MEMBER_AUTHOR',
      },
    });
    const client = world.visitor();
    const made = await client.items.insert(id, { title: 'before' });
    const { identity } = await client.authentication.registerV2(
      { email: world.email() },
      { password: world.password() },
    );
    client.auth.setTokens(await client.auth.getMemberTokensForExternalLogin(present(identity?._id), world.run.apiKey));
    const found = await client.items.query(id).find();
    assert.deepEqual(
      found.items.map((item) => [item._id, item._owner]),
      [[made._id, identity?._id]],
    );
  }),
  row('get', 'a missing item is null', async (world) => {
    const id = await shelf(world);
    for (const missing of ['no-such-item', "x' OR '1'='1", '../a', '%00', 'a%20b', 'é']) {
      assert.equal(await world.visitor().items.get(id, missing), null, missing);
    }
  }),
  row('get', 'with fields and a slash in the collection', async (world) => {
    const id = await shelf(world);
    const item = await world.visitor().items.get(id, 'a', { fields: ['title', 'o.p'] });
    assert.deepEqual(item, { _id: 'a', title: 'Alpha', o: { p: { q: 1 } } });
    return item;
  }),
  row('update', 'replaces the whole item', async (world) => {
    const id = await world.createCollection();
    const made = await world.app.items.insert(id, { _id: 'a', title: 'x', extra: 1 });
    await new Promise((done) => setTimeout(done, 5));
    const changed = await world.app.items.update(id, { _id: 'a', title: 'y' });
    assert.deepEqual(own(changed), { _id: 'a', title: 'y' });
    assert.deepEqual(changed._createdDate, made._createdDate);
    assert.ok(present(changed._updatedDate) > present(made._updatedDate));
    assert.equal(changed._owner, made._owner);
    assert.deepEqual(await world.app.items.get(id, 'a'), changed);
    return own(changed);
  }),
  row('update', 'a missing item is WDE0073', async (world) => {
    await failsWith(world.app.items.update(await shelf(world), { _id: 'no-such-item', title: 'x' }), 'WDE0073');
  }),
  row('update', 'without an id is refused', async (world) => {
    const error = await failure(world.app.items.update(await shelf(world), { title: 'x' }));
    assert.match(codeOf(error) ?? error.message, /WDE00(02|07|80)|dataItem/);
    assert.equal(world.recorder.last().status, 400);
  }),
  row('update', 'only when the condition holds', async (world) => {
    const id = await world.createCollection();
    await world.app.items.insert(id, { _id: 'a', title: 'x' });
    await failsWith(world.app.items.update(id, { _id: 'a', title: 'y' }, { condition: { title: 'z' } }), 'WDE0073');
    const changed = await world.app.items.update(id, { _id: 'a', title: 'y' }, { condition: { title: 'x' } });
    return own(changed);
  }),
  row('save', 'inserts without an id and with an unknown one, updates a known one', async (world) => {
    const id = await world.createCollection();
    const first = await world.app.items.save(id, { title: 'x', extra: 1 });
    assert.ok(first._id);
    const second = await world.app.items.save(id, { _id: 'given', title: 'y' });
    assert.equal(second._id, 'given');
    const third = await world.app.items.save(id, { _id: first._id, title: 'z' });
    assert.deepEqual(own(third), { _id: first._id, title: 'z' });
    assert.deepEqual(third._createdDate, first._createdDate);
    assert.equal(await world.app.items.count(id), 2);
  }),
  row('remove', 'gives the item, then null', async (world) => {
    const id = await world.createCollection();
    await world.app.items.insert(id, { _id: 'a', title: 'x' });
    const removed = await world.app.items.remove(id, 'a');
    assert.deepEqual(own(removed), { _id: 'a', title: 'x' });
    assert.equal(await world.app.items.get(id, 'a'), null);
    assert.equal(await world.app.items.remove(id, 'a'), null);
    return own(removed);
  }),
  row('bulkInsert', 'a thousand items', async (world) => {
    const id = await world.createCollection();
    const sent = Array.from({ length: 1000 }, (_, n) => ({ title: `title ${n}`, n, when: new Date(n * 1000) }));
    const result = await world.app.items.bulkInsert(id, sent);
    assert.deepEqual([result.inserted, result.updated, result.skipped, result.errors.length], [1000, 0, 0, 0]);
    assert.equal(new Set(result.insertedItemIds).size, 1000);
    assert.equal(await world.app.items.count(id), 1000);
    const third = await world.app.items.get(id, result.insertedItemIds[3]);
    assert.deepEqual([third?.n, third?.title, third?.when], [3, 'title 3', new Date(3000)]);
    const page = await world.visitor().items.query(id).ascending('n').limit(1000).find();
    assert.deepEqual(ns(page), range(0, 1000));
    return [result.inserted, page.items.length];
  }),
  row('bulkInsert', 'a taken id is skipped, the rest goes in', async (world) => {
    const id = await world.createCollection();
    await world.app.items.insert(id, { _id: 'a', title: 'first' });
    const result = await world.app.items.bulkInsert(id, [{ _id: 'a', title: 'second' }, { _id: 'b' }, { _id: 'b' }]);
    assert.deepEqual([result.inserted, result.skipped, result.errors.length, result.insertedItemIds], [1, 2, 0, ['b']]);
    assert.equal((await world.app.items.get(id, 'a'))?.title, 'first');
  }),
  row('bulkInsert', 'a bad item fails alone, with its index', async (world) => {
    const id = await world.createCollection();
    const result = await world.app.items.bulkInsert(id, [
      { _id: 'a' },
      { _id: '' },
      { _id: 'b', title: 'nul \u0000' },
      { _id: 'c' },
    ]);
    assert.deepEqual(result.insertedItemIds, ['a', 'c']);
    assert.deepEqual(
      result.errors.map((error) => error.originalIndex),
      [1, 2],
    );
    assert.ok(result.errors.every((error) => /^WDE\d{4}$/.test(error.code)));
    return result.errors.map((error) => error.code);
  }),
  row('bulkInsert', 'no items at all', async (world) => {
    const [result] = await Promise.allSettled([world.app.items.bulkInsert(await world.createCollection(), [])]);
    return result.status === 'fulfilled' ? result.value.inserted : codeOf(result.reason);
  }),
  row('query', 'default order is newest first', async (world) => {
    const id = await world.createCollection();
    for (const _id of ['a', 'b', 'c']) {
      await world.app.items.insert(id, { _id });
      await new Promise((done) => setTimeout(done, 5));
    }
    assert.equal(order(await world.visitor().items.query(id).find()), 'cba');
  }),
  .../** @type {[string, (query: QueryBuilder) => QueryBuilder, string][]} */ ([
    ['ascending across kinds', (q) => q.ascending('n'), 'fegabcklihjd'],
    ['descending across kinds', (q) => q.descending('n'), 'djhilkcbagef'],
    ['text by code point', (q) => q.ascending('title'), 'fgeiacldbkjh'],
    ['two keys, both ways', (q) => q.descending('flag').ascending('n'), 'ahdbfegcklij'],
    ['by _id', (q) => q.descending('_id'), 'lkjihgfedcba'],
    ['an array by its smallest element', (q) => q.ascending('nums').exists('nums', true), 'ab'],
    ['an array by its largest element', (q) => q.descending('nums').limit(2), 'ba'],
  ]).map(([check, build, expected]) =>
    row('query', `sort: ${check}`, async (world) => {
      const found = await build(wide(world.visitor().items.query(await shelf(world)))).find();
      assert.equal(order(found), expected);
      return order(found);
    }),
  ),
  row('query', 'sort: several array fields are refused', async (world) => {
    await failsWith(
      world
        .visitor()
        .items.query(await shelf(world))
        .ascending('nums')
        .ascending('tags')
        .find(),
      'WDE0121',
    );
  }),
  row('query', 'projection', async (world) => {
    const query = wide(world.visitor().items.query(await shelf(world)))
      .in('_id', ['a', 'g'])
      .ascending('_id');
    const named = (await query.fields('title', 'o.p', 'nowhere').find()).items;
    assert.deepEqual(named, [{ _id: 'a', title: 'Alpha', o: { p: { q: 1 } } }, { _id: 'g' }]);
    const unknown = (await query.fields('nowhere').find()).items;
    assert.deepEqual(unknown, [{ _id: 'a' }, { _id: 'g' }]);
    return named;
  }),
  row('query', 'pages forward', async (world) => {
    const first = await world
      .visitor()
      .items.query(await numbers(world))
      .ascending('n')
      .limit(50)
      .find({ returnTotalCount: true });
    assert.deepEqual(ns(first), range(0, 50));
    assert.deepEqual(
      [first.hasNext(), first.hasPrev(), first.totalCount, first.totalPages, first.currentPage],
      [true, false, 120, 3, 0],
    );
    const second = await first.next();
    assert.deepEqual(ns(second), range(50, 100));
    assert.deepEqual([second.hasNext(), second.hasPrev(), second.currentPage, second.totalCount], [true, true, 1, 120]);
    const third = await second.next();
    assert.deepEqual(ns(third), range(100, 120));
    assert.deepEqual([third.hasNext(), third.currentPage], [false, 2]);
    const error = await failure(third.next());
    assert.equal(error.code, 'WD_VALIDATION_ERROR');
  }),
  row('query', 'pages back', async (world) => {
    const last = await world
      .visitor()
      .items.query(await numbers(world))
      .ascending('n')
      .skip(100)
      .limit(50)
      .find();
    assert.deepEqual(ns(last), range(100, 120));
    const middle = await last.prev();
    assert.deepEqual(ns(middle), range(50, 100));
    const first = await middle.prev();
    assert.deepEqual(ns(first), range(0, 50));
    assert.equal(first.hasPrev(), false);
    assert.equal((await failure(first.prev())).code, 'WD_VALIDATION_ERROR');
    assert.deepEqual(ns(await first.next()), range(50, 100));
  }),
  row('query', 'without a limit pages are of fifty', async (world) => {
    const id = await numbers(world);
    const first = await world.visitor().items.query(id).ascending('n').find();
    assert.deepEqual(ns(first), range(0, 50));
    assert.deepEqual(ns(await first.next()), range(50, 100));
    const skipped = await world.visitor().items.query(id).ascending('n').skip(6).find();
    assert.deepEqual(ns(skipped), range(6, 56));
    assert.deepEqual(ns(await skipped.next()), range(56, 106));
  }),
  row('query', 'every item once over all pages of a sort with ties', async (world) => {
    const id = await world.createCollection();
    await world.app.items.bulkInsert(
      id,
      Array.from({ length: 90 }, (_, n) => ({ _id: `t${n}`, same: n % 2 })),
    );
    const seen = [];
    let page = await world.visitor().items.query(id).ascending('same').limit(7).find();
    for (;;) {
      seen.push(...page.items.map((item) => item._id));
      if (!page.hasNext()) break;
      page = await page.next();
    }
    assert.equal(seen.length, 90);
    assert.equal(new Set(seen).size, 90);
  }),
  row('query', 'the total is of the filter, and 0 for none', async (world) => {
    const id = await numbers(world);
    const some = await world.visitor().items.query(id).lt('n', 30).limit(10).find({ returnTotalCount: true });
    assert.deepEqual([some.totalCount, some.items.length, some.totalPages], [30, 10, 3]);
    const none = await world.visitor().items.query(id).lt('n', -1).find({ returnTotalCount: true });
    assert.deepEqual([none.totalCount, none.items.length, none.hasNext()], [0, 0, false]);
    const beyond = await world.visitor().items.query(id).skip(500).limit(10).find();
    assert.deepEqual([beyond.items.length, beyond.hasNext()], [0, false]);
  }),
  row('query', 'a thousand at once, not one more', async (world) => {
    const id = await numbers(world);
    assert.equal((await world.visitor().items.query(id).limit(1000).find()).items.length, 120);
    await failure(world.visitor().items.query(id).limit(1001).find());
    assert.equal(world.recorder.last().status, 400);
  }),
  row('query', 'the direct form', async (world) => {
    const result = await world.visitor().items.query(
      await numbers(world),
      {
        filter: { n: { $lt: 10 } },
        sort: [{ fieldName: 'n', order: 'DESC' }],
        paging: { limit: 3, offset: 2 },
        fields: ['n'],
      },
      { returnTotalCount: true },
    );
    assert.deepEqual(ns(result), [7, 6, 5]);
    assert.equal(result.pagingMetadata.total, 10);
    return result.items;
  }),
  row('query', 'options the slice does not use do no harm', async (world) => {
    const id = await shelf(world);
    const found = await world
      .visitor()
      .items.query(id)
      .find(
        untyped({
          consistentRead: true,
          language: 'en',
          suppressHooks: true,
          showDrafts: true,
          appOptions: { a: 1 },
          suppressAuth: true,
        }),
      );
    assert.equal(found.items.length, stored.length);
  }),
  row('query', 'drafts are there for calls that ask for them, of who may see them', async (world) => {
    const id = await world.createCollection();
    await undocumented(world.app.collections).addPublishPlugin(id, { publishOptions: { defaultStatus: 'DRAFT' } });
    await world.app.items.insert(id, { _id: 'a', title: 'draft' });
    await world.app.items.insert(id, { _id: 'b', title: 'out', _publishStatus: 'PUBLISHED' });
    const shows = { showDrafts: true };
    assert.equal(order(await world.app.items.query(id).find()), 'b');
    assert.equal(order(await world.app.items.query(id).ascending('title').find(shows)), 'ab');
    assert.equal(order(await world.visitor().items.query(id).find(shows)), 'b');
    assert.equal(await world.app.items.get(id, 'a'), null);
    assert.equal(await world.app.items.count(id, shows), 2);
    await failsWith(world.app.items.update(id, { _id: 'a', title: 'x' }), 'WDE0073');
    const kept = await world.app.items.update(id, { _id: 'a', title: 'x' }, shows);
    assert.equal(kept._publishStatus, 'DRAFT');
    await world.app.items.update(id, { _id: 'a', title: 'x', _publishStatus: 'PUBLISHED' }, shows);
    assert.equal(present(await world.visitor().items.get(id, 'a')).title, 'x');
  }),
  row('get', 'values in other languages, as the plugin lists them', async (world) => {
    const id = await world.createCollection();
    const options = { multilingualOptions: { translatableFieldKeys: ['title'] } };
    await undocumented(world.app.collections).addMultilingualPlugin(id, options);
    await world.app.items.insert(id, { _id: 'a', title: 'House', n: 1 });
    // The client sends no language with a write, so it is written by hand.
    const response = await world.app.fetchWithAuth('https://www.wixapis.com/wix-data/v2/items/update', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        dataCollectionId: id,
        language: 'de',
        dataItem: { id: 'a', data: { _id: 'a', title: 'Haus' } },
      }),
    });
    assert.equal(response.status, 200, await response.text());
    const read = async (/** @type {string} */ language) =>
      present(await world.visitor().items.get(id, 'a', untyped({ language }))).title;
    assert.equal(await read('de-AT'), 'Haus');
    assert.equal(await read('fr'), 'House');
    const found = await world
      .visitor()
      .items.query(id)
      .eq('title', 'House')
      .find(untyped({ language: 'de' }));
    assert.equal(present(found.items[0]).title, 'Haus');
    assert.equal(present(await world.visitor().items.get(id, 'a')).title, 'House');
  }),
  row('count', 'builder and standalone', async (world) => {
    const id = await numbers(world);
    assert.equal(await world.visitor().items.query(id).ge('n', 100).count(), 20);
    assert.equal(await world.visitor().items.count(id), 120);
    assert.equal(await world.visitor().items.count(id, { filter: { n: { $lt: 5 } } }), 5);
  }),
  row('withEnvironment', 'SANDBOX reads and writes items of the sandbox', async (world) => {
    const id = await shelf(world);
    const stoa = stoaAt({ data: world.run.dataDir });
    await stoa.command('environments', 'create').catch(() => undefined);
    await stoa.command('environments', 'copy', id, '--from', 'live', '--to', 'sandbox');
    const items = (/** @type {string} */ environment) => world.app.items.withEnvironment(untyped(environment));
    await items('SANDBOX').insert(id, { _id: 'in-sandbox' });
    const count = (/** @type {string} */ environment) => items(environment).count(id);
    assert.equal(await count('LIVE'), stored.length);
    assert.equal(await count('SANDBOX'), stored.length + 1);
    assert.equal(await count('SANDBOX_PREFERRED'), stored.length + 1);
    assert.equal((await items('SANDBOX').get(id, 'in-sandbox'))?._id, 'in-sandbox');
    assert.equal(await items('LIVE').get(id, 'in-sandbox'), null);
    await items('SANDBOX').remove(id, 'in-sandbox');
    assert.equal(await count('SANDBOX_PREFERRED'), stored.length);
  }),
  row('withEnvironment', 'LIVE and SANDBOX_PREFERRED read the live items', async (world) => {
    const id = await shelf(world);
    for (const environment of ['LIVE', 'SANDBOX_PREFERRED']) {
      const found = await world.visitor().items.withEnvironment(untyped(environment)).query(id).find();
      assert.equal(found.items.length, stored.length, environment);
    }
  }),
];
