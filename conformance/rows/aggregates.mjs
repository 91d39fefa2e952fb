// Aggregations as the client builds them: the older form with all that it has, and each stage and expression of pipelines.
import * as data from '@wix/data';
import { assert } from '../lib/expect.mjs';
import { threeItems } from './items-many.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @type {(method: string, check: string, run: (world: World) => unknown) => Row} */
const row = (method, check, run) => ({ method: `items.${method}`, check, required: true, compare: true, run });

const { expressions: of, pipelineBuilder, stages } = data.items;

/** @type {Row[]} */
export const rows = [
  row('aggregate', 'having, every operation, and pages there and back', async (world) => {
    const { items } = world.app;
    const id = await threeItems(world);
    await items.bulkInsert(id, [
      { _id: 'd', n: 4, kind: 'w' },
      { _id: 'e', n: 7, kind: 'z' },
      { _id: 'f', n: 2, kind: 'v' },
    ]);
    const first = await items
      .aggregate(id)
      .filter(items.filter().lt('n', 7))
      .group('kind')
      .sum('n', 'total')
      .avg('n', 'mean')
      .min('n')
      .max('n')
      .count()
      .having(items.filter().ge('total', 3))
      .ascending('mean')
      .skip(1)
      .limit(1)
      .run();
    const next = await first.next();
    const back = await next.prev();
    /** @param {{ items: Record<string, unknown>[] }} page */
    const groups = (page) =>
      page.items.map(({ _id, total, mean, nMin, nMax, count }) => [_id, total, mean, nMin, nMax, count]);
    assert.deepEqual(groups(first), [['y', 3, 3, 3, 3, 1]]);
    assert.deepEqual([groups(next), next.hasNext()], [[['w', 4, 4, 4, 4, 1]], false]);
    assert.deepEqual(groups(back), groups(first));
    const all = await items.aggregate(id).sum('n', 'total').count().run();
    assert.deepEqual([all.items.length, all.items[0].total, all.items[0].count], [1, 19, 6]);
    return groups(first);
  }),
  row('aggregatePipeline', 'every expression that the client builds', async (world) => {
    const { items } = world.app;
    const id = await threeItems(world);
    await items.save(id, { _id: 'a', n: 1, title: 'Ab', o: { k: 1, l: 2 } });
    const computed = {
      field: of.field('title'),
      text: of.text('t'),
      numeric: of.numeric(2.5),
      add: of.add(of.field('n'), of.numeric(2)),
      subtract: of.subtract(of.field('n'), of.numeric(3)),
      multiply: of.multiply(of.numeric(2), of.numeric(4)),
      divide: of.divide(of.numeric(7), of.numeric(2)),
      sum: of.sum(of.field('n'), of.numeric(5)),
      abs: of.abs(of.numeric(-4)),
      mod: of.mod(of.numeric(7), of.numeric(4)),
      floor: of.floor(of.numeric(2.5)),
      ceil: of.ceil(of.numeric(2.5)),
      concat: of.concat(of.field('title'), of.text('-c')),
      stringify: of.stringify(of.numeric(12)),
      toLower: of.toLower(of.field('title')),
      toUpper: of.toUpper(of.field('title')),
      substring: of.substring(of.text('straße'), of.numeric(1), of.numeric(3)),
      length: of.length(of.text('straße')),
    };
    const values = {
      field: 'Ab',
      text: 't',
      numeric: 2.5,
      add: 3,
      subtract: -2,
      multiply: 8,
      divide: 3.5,
      sum: 6,
      abs: 4,
      mod: 3,
      floor: 2,
      ceil: 3,
      concat: 'Ab-c',
      stringify: '12',
      toLower: 'ab',
      toUpper: 'AB',
      substring: 'tra',
      length: 6,
    };
    assert.deepEqual(Object.keys(computed).sort(), Object.keys(of).sort());
    const project = stages.project().include('n').projectNested(stages.project().include('k'), 'o');
    for (const [name, expression] of Object.entries(computed)) project.reshape(expression, name);
    const pipeline = pipelineBuilder()
      .withStages([stages.filter().eq('_id', 'a'), project])
      .build();
    const { results } = await items.aggregatePipeline(id, pipeline);
    assert.deepEqual(results, [{ _id: 'a', n: 1, o: { k: 1 }, ...values }]);
    return results;
  }),
  row('aggregatePipeline', 'every stage and accumulator that the client builds', async (world) => {
    const { items } = world.app;
    const id = await threeItems(world);
    await items.bulkSave(id, [
      { _id: 'a', n: 1, tags: ['p', 'q'] },
      { _id: 'b', n: 2, tags: ['q'] },
      { _id: 'c', n: 3, tags: ['r'] },
      { _id: 'y', n: 0, tags: ['q'] },
      { _id: 'z', n: 0.5, tags: ['q'] },
    ]);
    const group = stages
      .group()
      .by(of.field('tags'), 'tag')
      .count('count')
      .sum(of.field('n'), 'sum')
      .avg(of.field('n'), 'avg')
      .min(of.field('n'), 'min')
      .max(of.field('n'), 'max')
      .first(of.field('_id'), 'first')
      .last(of.field('_id'), 'last')
      .push(of.field('_id'), 'ids');
    const all = [
      stages.filter().gt('n', 0),
      stages.sort().ascending('n'),
      stages.skip(1),
      stages.unwind('tags'),
      group,
      stages.sort().descending('count'),
      stages.limit(1),
      stages.objectToArray('_id', 'key'),
      stages.project().exclude('_id'),
    ];
    const pipeline = pipelineBuilder().withStages(all).withPaging({ limit: 5, offset: 0 }).build();
    const { results } = await items.aggregatePipeline(id, pipeline);
    const key = [{ k: 'tag', v: 'q' }];
    assert.deepEqual(results, [
      { count: 2, sum: 3, avg: 1.5, min: 1, max: 2, first: 'a', last: 'b', ids: ['a', 'b'], key },
    ]);
    return results;
  }),
];
