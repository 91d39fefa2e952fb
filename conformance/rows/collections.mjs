// Collections: create, get, list, update, delete, fields and plugins.
import {
  assert,
  codeOf,
  failsWith,
  failsWithStatus,
  failure,
  member,
  present,
  undocumented,
  untyped,
} from '../lib/expect.mjs';

/** @import { collections } from '@wix/data' */
/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @typedef {collections.DataCollection} Collection */

/** @type {collections.Permissions} */
const OPEN = { insert: 'ANYONE', update: 'ANYONE', remove: 'ANYONE', read: 'ANYONE' };
const SYSTEM_FIELDS = ['_createdDate', '_id', '_owner', '_updatedDate'];

/** @param {Collection} collection */
const fieldsOf = ({ fields = [] }) =>
  fields.map(({ key, type, systemField }) => [key, type, systemField === true]).sort();

/** @type {Row[]} */
export const rows = [
  {
    method: 'collections.createDataCollection',
    check: 'gives back the definition',
    required: true,
    compare: true,
    async run(world) {
      const _id = `cars-${world.id().slice(0, 8)}`;
      const made = await world.app.collections.createDataCollection({
        _id,
        displayName: 'Cars',
        fields: [
          { key: 'title', displayName: 'Title', type: 'TEXT' },
          { key: 'n', displayName: 'Number', type: 'NUMBER', numberRange: { min: 1, max: Infinity } },
          {
            key: 'o',
            displayName: 'Object',
            type: 'OBJECT',
            typeMetadata: { object: { fields: [{ key: 'id', type: 'TEXT' }] } },
          },
          { key: 'when', displayName: 'When', type: 'DATETIME' },
          { key: 'tags', displayName: 'Tags', type: 'ARRAY_STRING' },
        ],
        permissions: OPEN,
      });
      assert.equal(made._id, _id);
      assert.ok(made._createdDate instanceof Date && made._updatedDate instanceof Date, 'dates');
      assert.equal(made.collectionType, 'NATIVE');
      assert.equal(String(made.revision), '1');
      const keys = fieldsOf(made)
        .filter(([, , isSystemField]) => isSystemField)
        .map(([key]) => key);
      assert.deepEqual(keys, SYSTEM_FIELDS);
      assert.deepEqual(made.permissions, OPEN);
      assert.deepEqual(member(made, 'dataPermissions'), {
        itemRead: 'ANYONE',
        itemInsert: 'ANYONE',
        itemUpdate: 'ANYONE',
        itemRemove: 'ANYONE',
      });
      return { ...made, _id: 'x', _createdDate: 0, _updatedDate: 0 };
    },
  },
  {
    method: 'collections.createDataCollection',
    check: 'refuses what is taken, unnamed or has no fields',
    required: true,
    async run(world) {
      const _id = await world.createCollection();
      const create = (/** @type {object} */ change) =>
        world.app.collections.createDataCollection(
          untyped({ _id: world.id(), fields: [{ key: 'a', type: 'TEXT' }], permissions: OPEN, ...change }),
        );
      const taken = await failsWith(create({ _id }), 'WDE0104');
      assert.ok(taken.status === 400 || taken.status === 409, `answered ${taken.status}`);
      for (const change of [
        { _id: '' },
        { fields: [] },
        { permissions: undefined },
        { fields: [{ key: 'a', type: 'NO_SUCH' }] },
        { _id: 'x'.repeat(257) },
      ]) {
        const error = await failure(create(change));
        assert.equal(error.status, 400, JSON.stringify(change));
      }
    },
  },
  {
    method: 'collections.createDataCollection',
    check: 'is not for visitors and members',
    required: true,
    async run(world) {
      const { client } = await world.member('collecting');
      for (const caller of [world.visitor(), client]) {
        await failsWithStatus(
          caller.collections.createDataCollection({
            _id: world.id(),
            fields: [{ key: 'a', type: 'TEXT' }],
            permissions: OPEN,
          }),
          401,
          403,
        );
      }
    },
  },
  {
    method: 'collections.getDataCollection',
    check: 'whole for the application, reduced for a visitor',
    required: true,
    async run(world) {
      const _id = await world.createCollection();
      const whole = await world.app.collections.getDataCollection(_id);
      assert.equal(whole._id, _id);
      assert.ok(whole.permissions && whole.revision);
      const seen = await world.visitor().collections.getDataCollection(_id);
      assert.equal(seen._id, _id);
      assert.ok(seen.fields?.some((field) => field.key === 'title'));
    },
  },
  {
    method: 'collections.getDataCollection',
    check: 'an unknown one is WDE0025',
    required: true,
    async run(world) {
      for (const caller of [world.app, world.visitor()]) {
        for (const name of ['no-such-collection', "x'; DROP TABLE items; --", '../../etc/passwd', 'Ns/no-such']) {
          const error = await failsWith(caller.collections.getDataCollection(name), 'WDE0025');
          assert.equal(error.status, 404);
        }
      }
    },
  },
  {
    method: 'collections.listDataCollections',
    check: 'pages and counts',
    required: true,
    async run(world) {
      const ids = await Promise.all([1, 2, 3].map(() => world.createCollection()));
      const all = await world.app.collections.listDataCollections({ paging: { limit: 1000 } });
      const listed = present(all.collections).map((collection) => collection._id);
      for (const id of ids) assert.ok(listed?.includes(id));
      assert.equal(all.pagingMetadata?.total, listed?.length);
      const [first, second] = await Promise.all(
        [0, 2].map((offset) =>
          world.app.collections.listDataCollections({
            paging: { limit: 2, offset },
            sort: { fieldName: '_id', order: 'ASC' },
          }),
        ),
      );
      assert.deepEqual(
        [first.collections?.length, first.pagingMetadata?.count, second.pagingMetadata?.offset],
        [2, 2, 2],
      );
      const pages = [first, second].flatMap((page) => present(page.collections));
      const sorted = pages.map((collection) => collection._id);
      assert.deepEqual(sorted, [...listed].sort().slice(0, sorted.length));
    },
  },
  {
    method: 'collections.updateDataCollection',
    check: 'sent back whole, with a new field',
    required: true,
    compare: true,
    async run(world) {
      const _id = await world.createCollection();
      const before = await world.app.collections.getDataCollection(_id);
      const after = await world.app.collections.updateDataCollection({
        ...before,
        displayName: 'Changed',
        fields: [...present(before.fields), { key: 'extra', displayName: 'Extra', type: 'BOOLEAN' }],
      });
      assert.equal(String(after.revision), String(Number(before.revision) + 1));
      assert.equal(after.displayName, 'Changed');
      return fieldsOf(after);
    },
  },
  {
    method: 'collections.updateDataCollection',
    check: 'an old revision is refused',
    required: true,
    async run(world) {
      const _id = await world.createCollection();
      const before = await world.app.collections.getDataCollection(_id);
      await world.app.collections.updateDataCollection({ ...before, displayName: 'First' });
      await failsWith(world.app.collections.updateDataCollection({ ...before, displayName: 'Second' }), 'WDE0178');
      assert.equal((await world.app.collections.getDataCollection(_id)).displayName, 'First');
    },
  },
  {
    method: 'collections.updateDataCollection',
    check: 'an unknown one is WDE0025',
    required: true,
    async run(world) {
      const before = await world.app.collections.getDataCollection(await world.createCollection());
      await failsWith(world.app.collections.updateDataCollection({ ...before, _id: 'no-such-collection' }), 'WDE0025');
    },
  },
  {
    method: 'collections.deleteDataCollection',
    check: 'it is gone, and its items',
    required: true,
    async run(world) {
      const _id = await world.createCollection();
      await world.app.items.insert(_id, { title: 'x' });
      await failsWithStatus(world.visitor().collections.deleteDataCollection(_id), 401, 403);
      await world.app.collections.deleteDataCollection(_id);
      for (const call of [
        () => world.app.collections.getDataCollection(_id),
        () => world.app.items.query(_id).find(),
        () => world.app.collections.deleteDataCollection(_id),
      ]) {
        const gone = await failure(call());
        // Not found, or deleted and still restorable.
        assert.match(String(codeOf(gone)), /^WDE002[56]$/, gone.message);
        assert.equal(world.recorder.last().status, 404);
      }
    },
  },
  ...fieldAndPluginRows(),
  ...pageLinkRows(),
];

/** @returns {Row[]} */
function fieldAndPluginRows() {
  const row = (
    /** @type {string} */ name,
    /** @type {string} */ check,
    /** @type {(world: World, id: string) => unknown} */ run,
  ) => ({
    method: `collections.${name}`,
    check,
    required: true,
    run: async (/** @type {World} */ world) => run(world, await world.createCollection()),
  });
  /** Some calls answer with the collection, others with an envelope. @param {unknown} answer @returns {Collection} */
  const collectionOf = (answer) => untyped(member(answer, 'dataCollection') ?? answer);
  /** @param {Collection} collection */
  const keys = ({ fields = [] }) => fields.map(({ key }) => key);
  /** @param {Collection} collection */
  const plugins = ({ plugins = [] }) => plugins.map(({ type }) => String(type));
  /** @type {Record<string, [string, object]>} */
  const PLUGINS = {
    Publish: ['PUBLISH', { publishOptions: { defaultStatus: 'DRAFT' } }],
    Urlized: ['URLIZED', { urlizedOptions: { format: 'PLAIN' } }],
    Multilingual: ['MULTILINGUAL', { multilingualOptions: { translatableFieldKeys: ['title'] } }],
    Cms: ['CMS', { cmsOptions: { siteSort: { sort: [{ fieldKey: 'title', direction: 'ASC' }] } } }],
    Catalog: ['CATALOG', { catalogOptions: { nameFieldKey: 'title' } }],
    DraftItems: ['DRAFT_ITEMS', { draftItemsOptions: {} }],
  };
  return [
    row('patchDataCollection', 'only what is named', async (world, id) => {
      const answer = collectionOf(await world.app.collections.patchDataCollection(id, { displayName: 'Patched' }));
      assert.equal(answer.displayName, 'Patched');
      assert.ok(keys(answer).includes('title'));
    }),
    row('createDataCollectionField', 'adds one', async (world, id) => {
      const answer = collectionOf(
        await world.app.collections.createDataCollectionField(id, { field: { key: 'n', type: 'NUMBER' } }),
      );
      assert.ok(keys(answer).includes('n'));
    }),
    row('updateDataCollectionField', 'changes one', async (world, id) => {
      const answer = collectionOf(
        await world.app.collections.updateDataCollectionField(id, {
          field: { key: 'title', type: 'TEXT', displayName: 'Other' },
        }),
      );
      assert.equal(answer.fields?.find((field) => field.key === 'title')?.displayName, 'Other');
    }),
    row('patchDataCollectionField', 'changes a part of one', async (world, id) => {
      const answer = collectionOf(
        await world.app.collections.patchDataCollectionField(id, { key: 'title', displayName: 'Other' }),
      );
      assert.equal(answer.fields?.find((field) => field.key === 'title')?.type, 'TEXT');
    }),
    row('deleteDataCollectionField', 'takes one away with its values', async (world, id) => {
      await world.app.items.insert(id, { _id: 'a', title: 'x' });
      const answer = collectionOf(await world.app.collections.deleteDataCollectionField(id, { fieldKey: 'title' }));
      assert.ok(!keys(answer).includes('title'));
    }),
    row('addDataCollectionPlugin', 'single item', async (world, id) => {
      const answer = collectionOf(
        await world.app.collections.addDataCollectionPlugin(id, {
          plugin: { type: 'SINGLE_ITEM', singleItemOptions: { singleItemId: 'one' } },
        }),
      );
      assert.ok(plugins(answer).includes('SINGLE_ITEM'));
    }),
    row('deleteDataCollectionPlugin', 'cms', async (world, id) => {
      await world.app.collections.addDataCollectionPlugin(id, { plugin: { type: 'CMS', cmsOptions: {} } });
      const answer = collectionOf(await world.app.collections.deleteDataCollectionPlugin(id, { pluginType: 'CMS' }));
      assert.ok(!plugins(answer).includes('CMS'));
    }),
    row('restoreDataCollection', 'after a delete', async (world, id) => {
      await world.app.collections.deleteDataCollection(id);
      await undocumented(world.app.collections).restoreDataCollection(id);
      await world.app.collections.getDataCollection(id);
    }),
    ...Object.entries(PLUGINS).flatMap(([name, [type, options]]) => [
      row(`add${name}Plugin`, 'is on afterwards', async (world, id) => {
        assert.ok(
          plugins(collectionOf(await undocumented(world.app.collections)[`add${name}Plugin`](id, options))).includes(
            type,
          ),
        );
      }),
      row(`delete${name}Plugin`, 'is off afterwards', async (world, id) => {
        await undocumented(world.app.collections)[`add${name}Plugin`](id, options);
        const removal = name === 'DraftItems' ? { draftItemsRemovalAction: 'DISCARD_EXISTING_DRAFT_ITEMS' } : undefined;
        assert.ok(
          !plugins(
            collectionOf(await undocumented(world.app.collections)[`delete${name}Plugin`](id, removal)),
          ).includes(type),
        );
      }),
    ]),
  ];
}

/** @returns {Row[]} */
function pageLinkRows() {
  /** @type {collections.Field[]} */
  const fields = [
    { key: 'title', type: 'TEXT' },
    {
      key: 'link',
      type: 'PAGE_LINK',
      typeMetadata: { pageLink: { calculator: { fieldsPattern: { pattern: '/products/{title}', lowercase: true } } } },
    },
  ];
  /** A collection with a page link, and the link that an item of this title has. @param {World} world */
  const collectionWithLink = async (world) => {
    const _id = `linked-${world.id().slice(0, 8)}`;
    await world.app.collections.createDataCollection({ _id, fields: untyped(fields), permissions: OPEN });
    return {
      _id,
      linkOf: async (/** @type {string} */ title) => {
        const { _id: item } = await world.app.items.save(_id, { _id: 'a', title });
        return (await world.app.items.get(_id, present(item)))?.link;
      },
    };
  };
  return [
    {
      method: 'collections.addUrlizedPlugin',
      check: 'says how the links of items are written',
      required: true,
      async run(world) {
        const { _id, linkOf } = await collectionWithLink(world);
        assert.equal(await linkOf('Größe 42'), '/products/gr%C3%B6%C3%9Fe-42');
        const calls = undocumented(world.app.collections);
        await calls.addUrlizedPlugin(_id, { urlizedOptions: { format: 'PLAIN' } });
        assert.equal(await linkOf('Größe 42'), '/products/Gr%C3%B6%C3%9Fe%2042');
        await calls.deleteUrlizedPlugin(_id);
        assert.equal(await linkOf('Größe 42'), '/products/gr%C3%B6%C3%9Fe-42');
      },
    },
    {
      method: 'collections.addDataCollectionPlugin',
      check: 'page links that are stored and set',
      required: true,
      async run(world) {
        const { _id, linkOf } = await collectionWithLink(world);
        await world.app.collections.addDataCollectionPlugin(_id, {
          plugin: untyped({
            type: 'EDITABLE_PAGE_LINK',
            editablePageLinkOptions: { isPersisted: true, isMutable: true },
          }),
        });
        assert.equal(await linkOf('First'), '/products/first');
        assert.equal(await linkOf('Second'), '/products/first');
        const set = await world.app.items.update(_id, { _id: 'a', title: 'Second', link: '/sale/second' });
        assert.equal(set.link, '/sale/second');
      },
    },
    {
      method: 'items.query',
      check: 'an item is found by its link, as routers of the client look for it',
      required: true,
      async run(world) {
        const { _id, linkOf } = await collectionWithLink(world);
        const link = String(await linkOf('Red  Shoes - Größe 42'));
        const part = decodeURIComponent(link.slice('/products/'.length));
        /** @type {{ _matchesUrlized: (field: string, part: string) => never }} */
        const filter = untyped(world.app.items.filter());
        const { items } = await world.app.items.query(_id).and(filter._matchesUrlized('title', part)).find();
        assert.deepEqual(
          items.map((item) => item._id),
          ['a'],
        );
      },
    },
  ];
}
