// @ts-check
// The companion package for content pages: its loaders and its two services, run by the services
// manager it is made for, as a visitor. Its calls are those of protocol/content.md section 18.
import * as headless from '@wix/headless-cms/services';
import { createServicesManager, createServicesMap } from '@wix/services-manager';
import { assert } from '../lib/expect.mjs';
import { items as stored, shelf } from './shelf.mjs';

const { CmsCollectionServiceDefinition, CmsCollectionServiceImplementation } = /** @type {any} */ (headless);
const { CmsItemServiceDefinition, CmsItemServiceImplementation } = /** @type {any} */ (headless);
const WAIT_LIMIT_MS = 10_000;

/** @type {(check: string, run: (world: any) => unknown, method?: string) => import('../lib/runner.mjs').Row} */
const row = (check, run, method = 'CmsCollectionServiceImplementation') => ({
  method: `headless-cms ${method}`,
  check,
  required: true,
  compare: true,
  run,
});

/** The package reads through the client that the page has set. @param {any} world */
const asVisitor = (world) => world.visitor().enableContext('global');

/** Movies with a lead and actors; two actors. @param {any} world */
async function films(world) {
  asVisitor(world);
  const actors = await world.collectionCreate();
  await world.app.items.bulkInsert(actors, [
    { _id: 'p', title: 'P' },
    { _id: 'q', title: 'Q' },
  ]);
  const movies = await world.collectionCreate({
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

/** A service as a page gets it. @param {any} definition @param {any} implementation @param {any} config */
const service = (definition, implementation, config) =>
  /** @type {any} */ (
    createServicesManager(createServicesMap().addService(definition, implementation, config)).getService(definition)
  );

/** @param {any} movies @param {object} [config] */
const collection = (movies, config = {}) =>
  service(CmsCollectionServiceDefinition, CmsCollectionServiceImplementation, {
    collectionId: movies,
    queryOptions: { limit: 2, returnTotalCount: true },
    initialSort: [{ fieldName: 'year', order: 'ASC' }],
    singleRefFieldIds: ['lead'],
    multiRefFieldIds: ['actors'],
    ...config,
  });

/** Waits until the service shows what is expected. @param {() => unknown} holds @param {any} it */
async function until(holds, it) {
  for (const end = Date.now() + WAIT_LIMIT_MS; !holds(); await new Promise((done) => setTimeout(done, 20))) {
    assert.equal(it.errorSignal.get(), null);
    assert.ok(Date.now() < end, 'the service did not come to it');
  }
}

/** @param {any} it */
const titles = (it) => it.queryResultSignal.get()?.items.map((/** @type {any} */ item) => item.title);
/** @param {any} it @param {string[]} expected */
const shows = (it, ...expected) => until(() => JSON.stringify(titles(it)) === JSON.stringify(expected), it);

/** @type {import('../lib/runner.mjs').Row[]} */
export const rows = [
  row(
    'a visitor reads a collection',
    async (world) => {
      const id = await shelf(world);
      asVisitor(world);
      const config = Object.values(
        await headless.loadCmsCollectionServiceInitialData(id, { limit: 50, returnTotalCount: true }),
      )[0];
      const { queryResult, collectionSchema } = /** @type {any} */ (config);
      assert.equal(queryResult.items.length, stored.length);
      assert.equal(queryResult.totalCount, stored.length);
      assert.ok(collectionSchema.fields.some((/** @type {any} */ it) => it.key === 'title' && it.type === 'TEXT'));
      return Object.keys(collectionSchema).sort();
    },
    'loadCmsCollectionServiceInitialData',
  ),
  row(
    'references come with the items',
    async (world) => {
      const { movies } = await films(world);
      const config = Object.values(
        await headless.loadCmsCollectionServiceInitialData(
          movies,
          {},
          [{ fieldName: 'year', order: 'ASC' }],
          undefined,
          undefined,
          ['lead'],
          ['actors'],
        ),
      )[0];
      const [first, second] = /** @type {any} */ (config).queryResult.items;
      assert.equal(first.lead.title, 'P');
      assert.deepEqual(
        first.actors.map((/** @type {any} */ it) => it.title),
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
      const found = async (/** @type {any} */ filter) => {
        const config = Object.values(
          await headless.loadCmsCollectionServiceInitialData(
            movies,
            {},
            [{ fieldName: 'year', order: 'ASC' }],
            filter,
            { year: { $isNotEmpty: true } },
          ),
        )[0];
        return /** @type {any} */ (config).queryResult.items.map((/** @type {any} */ it) => it._id).join(' ');
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
      const { item } = /** @type {any} */ (
        Object.values(await headless.loadCmsItemServiceInitialData(movies, 'm0', ['lead'], ['actors']))[0]
      );
      assert.deepEqual([item.title, item.lead.title, item.actors.length], ['M0', 'P', 2]);
    },
    'loadCmsItemServiceInitialData',
  ),
  row('pages forward and back, sorts, filters, resets', async (world) => {
    const it = collection((await films(world)).movies);
    await shows(it, 'M0', 'M1');
    assert.equal(it.queryResultSignal.get().totalCount, 5);
    await it.nextPage();
    await shows(it, 'M2', 'M3');
    await it.nextPage();
    await shows(it, 'M4');
    await it.prevPage();
    await shows(it, 'M2', 'M3');
    it.setSort([{ fieldName: 'year', order: 'DESC' }]);
    await shows(it, 'M4', 'M3');
    it.setFilter({ kind: { $eq: 'odd' } });
    await shows(it, 'M3', 'M1');
    assert.equal(it.isFiltered(), true);
    it.resetFilter();
    await shows(it, 'M4', 'M3');
  }),
  row('creates, updates, links, unlinks and deletes items', async (world) => {
    const { movies } = await films(world);
    const it = collection(movies, { queryOptions: { limit: 10 } });
    await shows(it, 'M0', 'M1', 'M2', 'M3', 'M4');
    const on = new Date('2024-01-15T06:07:08.009Z');
    const made = await it.createItem({ title: 'New', year: 2024, on, at: on, hour: on });
    // The month counts from zero: the package writes dates so, and no field is held to its type here.
    assert.deepEqual([made.on, made.hour], ['2024-00-15', '06:07:08.009']);
    assert.equal(made.at.toISOString(), on.toISOString());
    await shows(it, 'M0', 'M1', 'M2', 'M3', 'M4', 'New');
    await it.linkItem({ referenceFieldId: 'actors', itemId: made._id, referencedItemIds: ['q'] });
    await until(() => it.queryResultSignal.get().items.at(-1).actors?.length === 1, it);
    await it.unlinkItem({ referenceFieldId: 'actors', itemId: made._id, referencedItemIds: ['q'] });
    await until(() => !it.queryResultSignal.get().items.at(-1).actors?.length, it);
    await it.updateItem(made._id, { title: 'Newer', year: 2025 });
    await shows(it, 'M0', 'M1', 'M2', 'M3', 'M4', 'Newer');
    await it.deleteItem(made._id);
    await shows(it, 'M0', 'M1', 'M2', 'M3', 'M4');
  }),
  row('options of a field: items of the other collection, or values', async (world) => {
    const it = collection((await films(world)).movies);
    const options = async (/** @type {string} */ field) =>
      (await it.fetchFieldOptions(field)).map((/** @type {any} */ each) => each.title ?? each).sort();
    assert.deepEqual(await options('actors'), ['P', 'Q']);
    assert.deepEqual(await options('lead'), ['P', 'Q']);
    assert.deepEqual(await options('kind'), ['even', 'odd']);
    const made = await it.createReferencedCollectionItem('actors', { title: 'R' });
    assert.equal(made.title, 'R');
    assert.deepEqual(await options('actors'), ['P', 'Q', 'R']);
  }),
  row(
    'reads, updates, links and deletes its item',
    async (world) => {
      const { movies } = await films(world);
      const it = service(CmsItemServiceDefinition, CmsItemServiceImplementation, {
        collectionId: movies,
        itemId: 'm1',
        singleRefFieldIds: ['lead'],
        multiRefFieldIds: ['actors'],
      });
      await until(() => it.itemSignal.get().title === 'M1', it);
      assert.equal(it.itemSignal.get().lead.title, 'P');
      await it.linkItem({ referenceFieldId: 'actors', referencedItemIds: ['p', 'q'] });
      assert.equal(it.itemSignal.get().actors.length, 2);
      await it.unlinkItem({ referenceFieldId: 'actors', itemId: 'm1', referencedItemIds: ['p'] });
      assert.deepEqual(
        it.itemSignal.get().actors.map((/** @type {any} */ each) => each.title),
        ['Q'],
      );
      // The item goes back as it was read: with whole items where it has ids.
      await it.updateItem({ ...it.itemSignal.get(), title: 'Changed' });
      assert.deepEqual([it.itemSignal.get().title, it.itemSignal.get().lead.title], ['Changed', 'P']);
      await it.deleteItem();
      assert.equal(await world.app.items.get(movies, 'm1'), null);
    },
    'CmsItemServiceImplementation',
  ),
];
