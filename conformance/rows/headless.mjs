// The companion package for content pages: its loaders and its two services, run by the services
// manager it is made for, as a visitor. Its calls are those of docs/protocol/content.md §18.
import * as headless from '@wix/headless-cms/services';
import { createServicesManager, createServicesMap } from '@wix/services-manager';
import { assert, present, untyped } from '../lib/expect.mjs';
import { items as stored, shelf } from './shelf.mjs';

/** @import { collections, items } from '@wix/data' */
/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

const { CmsCollectionServiceDefinition, CmsCollectionServiceImplementation } = headless;
const { CmsItemServiceDefinition, CmsItemServiceImplementation } = headless;
const WAIT_LIMIT_MS = 10_000;
/** @type {headless.CmsCollectionServiceConfig['initialSort']} */
const BY_YEAR = [{ fieldName: 'year', order: 'ASC' }];

/**
 * The package's types leave open what its loaders give.
 * @typedef {object} Loaded
 * @property {items.WixDataResult} queryResult   of a collection
 * @property {collections.DataCollection} collectionSchema
 * @property {items.WixDataItem} item   of an item
 */

/** @type {(check: string, run: (world: World) => unknown, method?: string) => Row} */
const row = (check, run, method = 'CmsCollectionServiceImplementation') => ({
  method: `headless-cms ${method}`,
  check,
  required: true,
  compare: true,
  run,
});

/** The package reads through the client that the page has set. @param {World} world */
const asVisitor = (world) => world.visitor().enableContext('global');

/** Movies with a lead and actors; two actors. @param {World} world */
async function films(world) {
  asVisitor(world);
  const actors = await world.createCollection();
  await world.app.items.bulkInsert(actors, [
    { _id: 'p', title: 'P' },
    { _id: 'q', title: 'Q' },
  ]);
  const movies = await world.createCollection({
    fields: [
      { key: 'title', type: 'TEXT' },
      { key: 'year', type: 'NUMBER' },
      { key: 'kind', type: 'TEXT' },
      { key: 'on', type: 'DATE' },
      { key: 'at', type: 'DATETIME' },
      { key: 'hour', type: 'TIME' },
      { key: 'lead', type: 'REFERENCE', typeMetadata: { reference: { referencedCollectionId: actors } } },
      {
        key: 'actors',
        type: 'MULTI_REFERENCE',
        typeMetadata: {
          multiReference: {
            referencedCollectionId: actors,
            referencingFieldKey: 'movies',
            referencingDisplayName: 'Movies',
          },
        },
      },
    ],
  });
  await world.app.items.bulkInsert(
    movies,
    Array.from({ length: 5 }, (_, n) => ({
      _id: `m${n}`,
      title: `M${n}`,
      year: 1990 + n,
      kind: n % 2 ? 'odd' : 'even',
      lead: 'p',
    })),
  );
  await world.app.items.replaceReferences(movies, 'actors', 'm0', ['p', 'q']);
  return { movies, actors };
}

/**
 * The service of a collection as a page gets it.
 * @param {string} id @param {Partial<headless.CmsCollectionServiceConfig>} [config]
 */
const collectionService = (id, config = {}) =>
  createServicesManager(
    createServicesMap().addService(CmsCollectionServiceDefinition, CmsCollectionServiceImplementation, {
      collectionId: id,
      queryOptions: { limit: 2, returnTotalCount: true },
      initialSort: BY_YEAR,
      singleRefFieldIds: ['lead'],
      multiRefFieldIds: ['actors'],
      ...config,
    }),
  ).getService(CmsCollectionServiceDefinition);

/** The service of one item as a page gets it. @param {string} id @param {string} itemId */
const itemService = (id, itemId) =>
  createServicesManager(
    createServicesMap().addService(CmsItemServiceDefinition, CmsItemServiceImplementation, {
      collectionId: id,
      itemId,
      singleRefFieldIds: ['lead'],
      multiRefFieldIds: ['actors'],
    }),
  ).getService(CmsItemServiceDefinition);

/** @typedef {ReturnType<typeof collectionService>} CollectionService */
/** @typedef {Pick<CollectionService, 'errorSignal'>} Service */

/** Waits until the service shows what is expected. @param {() => unknown} holds @param {Service} service */
async function until(holds, service) {
  for (const end = Date.now() + WAIT_LIMIT_MS; !holds(); await new Promise((done) => setTimeout(done, 20))) {
    assert.equal(service.errorSignal.get(), null);
    assert.ok(Date.now() < end, 'the service does not show what is expected');
  }
}

/** @param {CollectionService} service */
const titles = (service) => service.queryResultSignal.get()?.items.map((item) => item.title);
/** @param {CollectionService} service */
const lastItem = (service) => present(service.queryResultSignal.get()?.items.at(-1));
/** @param {CollectionService} service @param {string[]} expected */
const shows = (service, ...expected) =>
  until(() => JSON.stringify(titles(service)) === JSON.stringify(expected), service);

/** What a loader prepared for its service. @param {Promise<object>} loading @returns {Promise<Loaded>} */
const loaded = async (loading) => untyped(Object.values(await loading)[0]);

/** What a field of references holds when its items are included. @param {unknown} value @returns {items.WixDataItem[]} */
const itemsIn = (value) => untyped(value);

/** @type {Row[]} */
export const rows = [
  row(
    'a visitor reads a collection',
    async (world) => {
      const id = await shelf(world);
      asVisitor(world);
      const { queryResult, collectionSchema } = await loaded(
        headless.loadCmsCollectionServiceInitialData(id, { limit: 50, returnTotalCount: true }),
      );
      assert.equal(queryResult.items.length, stored.length);
      assert.equal(queryResult.totalCount, stored.length);
      assert.ok(collectionSchema.fields?.some(({ key, type }) => key === 'title' && type === 'TEXT'));
      return Object.keys(collectionSchema).sort();
    },
    'loadCmsCollectionServiceInitialData',
  ),
  row(
    'references come with the items',
    async (world) => {
      const { movies } = await films(world);
      const { queryResult } = await loaded(
        headless.loadCmsCollectionServiceInitialData(movies, {}, BY_YEAR, undefined, undefined, ['lead'], ['actors']),
      );
      const [first, second] = queryResult.items;
      assert.equal(first.lead.title, 'P');
      assert.deepEqual(
        itemsIn(first.actors).map(({ title }) => title),
        ['P', 'Q'],
      );
      return [second.actors ?? null, second.lead.title];
    },
    'loadCmsCollectionServiceInitialData',
  ),
  row(
    'every filter of its own',
    async (world) => {
      const { movies } = await films(world);
      const found = async (/** @type {object} */ filter) => {
        const { queryResult } = await loaded(
          headless.loadCmsCollectionServiceInitialData(movies, {}, BY_YEAR, untyped(filter), {
            year: { $isNotEmpty: true },
          }),
        );
        return queryResult.items.map(({ _id }) => _id).join(' ');
      };
      const answers = [];
      for (const filter of [
        { kind: 'odd' },
        { year: { $gte: 1991, $lte: 1993 } },
        { kind: { $in: ['odd', 'none'] } },
        { kind: { $hasSome: ['even'] } },
        { kind: { $hasAll: ['even'] } },
        { title: { $startsWith: 'm' } },
        { title: { $contains: '3' } },
        { title: { $endsWith: '4' } },
        { hour: { $isEmpty: true } },
        { year: { $between: [1990, 1992] } },
        { year: { $ne: 1990, $gt: 1992 } },
        { actors: { $hasSome: ['q'] } },
        { lead: 'p', kind: { $eq: 'even' } },
      ])
        answers.push(await found(filter));
      assert.deepEqual(answers.slice(0, 6), ['m1 m3', 'm1 m2 m3', 'm1 m3', 'm0 m2 m4', 'm0 m2 m4', 'm0 m1 m2 m3 m4']);
      assert.equal(answers[11], 'm0');
      return answers;
    },
    'loadCmsCollectionServiceInitialData',
  ),
  row(
    'an item with its references',
    async (world) => {
      const { movies } = await films(world);
      const { item } = await loaded(headless.loadCmsItemServiceInitialData(movies, 'm0', ['lead'], ['actors']));
      assert.deepEqual([item.title, item.lead.title, item.actors.length], ['M0', 'P', 2]);
    },
    'loadCmsItemServiceInitialData',
  ),
  row('pages forward and back, sorts, filters, resets', async (world) => {
    const service = collectionService((await films(world)).movies);
    await shows(service, 'M0', 'M1');
    assert.equal(service.queryResultSignal.get()?.totalCount, 5);
    await service.nextPage();
    await shows(service, 'M2', 'M3');
    await service.nextPage();
    await shows(service, 'M4');
    await service.prevPage();
    await shows(service, 'M2', 'M3');
    service.setSort([{ fieldName: 'year', order: 'DESC' }]);
    await shows(service, 'M4', 'M3');
    service.setFilter({ kind: { $eq: 'odd' } });
    await shows(service, 'M3', 'M1');
    assert.equal(service.isFiltered(), true);
    service.resetFilter();
    await shows(service, 'M4', 'M3');
  }),
  row('creates, updates, links, unlinks and deletes items', async (world) => {
    const { movies } = await films(world);
    const service = collectionService(movies, { queryOptions: { limit: 10 } });
    await shows(service, 'M0', 'M1', 'M2', 'M3', 'M4');
    const on = new Date('2024-01-15T06:07:08.009Z');
    const made = await service.createItem({ title: 'New', year: 2024, on, at: on, hour: on });
    // The month counts from zero: the package writes dates so, and no field is held to its type here.
    assert.deepEqual([made.on, made.hour], ['2024-00-15', '06:07:08.009']);
    assert.equal(made.at.toISOString(), on.toISOString());
    await shows(service, 'M0', 'M1', 'M2', 'M3', 'M4', 'New');
    await service.linkItem({ referenceFieldId: 'actors', itemId: made._id, referencedItemIds: ['q'] });
    await until(() => lastItem(service).actors?.length === 1, service);
    await service.unlinkItem({ referenceFieldId: 'actors', itemId: made._id, referencedItemIds: ['q'] });
    await until(() => !lastItem(service).actors?.length, service);
    await service.updateItem(made._id, { title: 'Newer', year: 2025 });
    await shows(service, 'M0', 'M1', 'M2', 'M3', 'M4', 'Newer');
    await service.deleteItem(made._id);
    await shows(service, 'M0', 'M1', 'M2', 'M3', 'M4');
  }),
  row('options of a field: items of the other collection, or values', async (world) => {
    const service = collectionService((await films(world)).movies);
    const options = async (/** @type {string} */ field) =>
      (await service.fetchFieldOptions(field)).map((option) => option.title ?? option).sort();
    assert.deepEqual(await options('actors'), ['P', 'Q']);
    assert.deepEqual(await options('lead'), ['P', 'Q']);
    assert.deepEqual(await options('kind'), ['even', 'odd']);
    const made = await service.createReferencedCollectionItem('actors', { title: 'R' });
    assert.equal(made.title, 'R');
    assert.deepEqual(await options('actors'), ['P', 'Q', 'R']);
  }),
  row(
    'reads, updates, links and deletes its item',
    async (world) => {
      const { movies } = await films(world);
      const service = itemService(movies, 'm1');
      const item = () => present(service.itemSignal.get());
      await until(() => service.itemSignal.get()?.title === 'M1', service);
      assert.equal(item().lead.title, 'P');
      await service.linkItem(untyped({ referenceFieldId: 'actors', referencedItemIds: ['p', 'q'] }));
      assert.equal(item().actors.length, 2);
      await service.unlinkItem({ referenceFieldId: 'actors', itemId: 'm1', referencedItemIds: ['p'] });
      assert.deepEqual(
        itemsIn(item().actors).map(({ title }) => title),
        ['Q'],
      );
      // The item goes back as it was read: with whole items where it has ids.
      await service.updateItem({ ...item(), title: 'Changed' });
      assert.deepEqual([item().title, item().lead.title], ['Changed', 'P']);
      await service.deleteItem();
      assert.equal(await world.app.items.get(movies, 'm1'), null);
    },
    'CmsItemServiceImplementation',
  ),
];
