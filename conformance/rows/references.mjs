// References: inverse fields, links, and items in the place of ids.
import { assert, codeOf, failure, untyped } from '../lib/expect.mjs';

/** @import { items } from '@wix/data' */
/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @type {(method: string, check: string, run: (world: World) => unknown) => Row} */
const row = (method, check, run) => ({ method: `items.${method}`, check, required: true, compare: true, run });

/** Two collections, the first with a multi-reference to the second. @param {World} world */
async function linked(world) {
  const actors = await world.createCollection();
  await world.app.items.bulkInsert(actors, [
    { _id: 'p', title: 'P' },
    { _id: 'q', title: 'Q' },
  ]);
  const movies = await world.createCollection({
    fields: [
      { key: 'title', type: 'TEXT' },
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
      { key: 'lead', type: 'REFERENCE', typeMetadata: { reference: { referencedCollectionId: actors } } },
    ],
  });
  await world.app.items.insert(movies, { _id: 'm', title: 'M', lead: 'p' });
  return { actors, movies };
}

/** What a field of references holds when its items are included. @param {unknown} value @returns {items.WixDataItem[]} */
const itemsIn = (value) => untyped(value);

/** @type {Row[]} */
export const rows = [
  row('insertReference', 'links, and isReferenced says so', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.insertReference(movies, 'actors', 'm', ['p', 'q']);
    assert.equal(await world.app.items.isReferenced(movies, 'actors', 'm', 'q'), true);
  }),
  row('removeReference', 'unlinks', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.insertReference(movies, 'actors', 'm', ['p', 'q']);
    await world.app.items.removeReference(movies, 'actors', 'm', 'p');
    assert.equal(await world.app.items.isReferenced(movies, 'actors', 'm', 'p'), false);
  }),
  row('replaceReferences', 'sets the links', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.replaceReferences(movies, 'actors', 'm', ['q']);
    assert.equal(await world.app.items.isReferenced(movies, 'actors', 'm', 'q'), true);
  }),
  row('isReferenced', 'false without a link', async (world) => {
    const { movies } = await linked(world);
    assert.equal(await world.app.items.isReferenced(movies, 'actors', 'm', 'q'), false);
  }),
  row('queryReferenced', 'the linked items', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.replaceReferences(movies, 'actors', 'm', ['p', 'q']);
    const result = await world.app.items.queryReferenced(movies, 'm', 'actors');
    assert.deepEqual(result.items.map((item) => item._id).sort(), ['p', 'q']);
  }),
  row('queryReferencedItems', 'the linked items', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.replaceReferences(movies, 'actors', 'm', ['p', 'q']);
    const result = await world.app.items.queryReferencedItems(movies, ['m'], 'actors');
    assert.equal(result.results.length, 2);
  }),
  row('query', 'include gives the referenced item', async (world) => {
    const { movies } = await linked(world);
    const result = await world.app.items.query(movies).include('lead').find();
    assert.equal(result.items[0].lead.title, 'P');
  }),
  row('insertReference', 'refuses a link that exists', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.insertReference(movies, 'actors', 'm', 'p');
    const error = await failure(world.app.items.insertReference(movies, 'actors', 'm', 'p'));
    assert.equal(codeOf(error), 'WDE0029');
  }),
  row('insertReference', 'through the inverse field', async (world) => {
    const { actors, movies } = await linked(world);
    await world.app.items.insertReference(actors, 'movies', 'p', 'm');
    assert.equal(await world.app.items.isReferenced(movies, 'actors', 'm', 'p'), true);
  }),
  row('queryReferenced', 'in pages, by the order of the links', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.replaceReferences(movies, 'actors', 'm', ['q', 'p']);
    const first = await world.app.items.queryReferenced(movies, 'm', 'actors', { limit: 1, order: 'desc' });
    const second = await first.next();
    assert.deepEqual(
      [...first.items, ...second.items].map((item) => item._id),
      ['p', 'q'],
    );
    assert.equal(second.hasNext(), false);
  }),
  row('query', 'include gives the items of a multi-reference, and theirs', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.replaceReferences(movies, 'actors', 'm', ['q', 'p']);
    const result = await world.app.items.query(movies).include('lead', 'actors.movies').find();
    assert.deepEqual(
      itemsIn(result.items[0].actors).map((item) => [item._id, item.movies.length]),
      [
        ['q', 1],
        ['p', 1],
      ],
    );
    assert.equal((await world.app.items.query(movies).find()).items[0].actors, undefined);
  }),
  row('query', 'hasSome finds by links', async (world) => {
    const { movies } = await linked(world);
    await world.app.items.insertReference(movies, 'actors', 'm', 'p');
    assert.equal((await world.app.items.query(movies).hasSome('actors', ['p', 'x']).find()).items.length, 1);
    assert.equal((await world.app.items.query(movies).hasSome('actors', ['q']).find()).items.length, 0);
  }),
  row('insert', 'saveReferences and includeReferences', async (world) => {
    const { movies } = await linked(world);
    const item = { _id: 'n', lead: { _id: 'p', title: 'P' }, actors: ['q', { _id: 'p' }] };
    const made = await world.app.items.insert(movies, item, { saveReferences: true, includeReferences: true });
    assert.deepEqual([made.lead.title, itemsIn(made.actors).map(({ _id }) => _id)], ['P', ['q', 'p']]);
    await world.app.items.insert(movies, { _id: 'o', actors: ['q'] });
    assert.equal(await world.app.items.isReferenced(movies, 'actors', 'o', 'q'), false);
  }),
];
