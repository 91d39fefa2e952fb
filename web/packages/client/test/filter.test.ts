import { describe, expect, test } from 'vitest';

import { type Filter, StoaError, filter } from '../src/index.ts';

const f = () => filter();
const a = () => f().eq('a', 1);
const b = () => f().eq('b', 2);

describe('composition', () => {
  const table: [string, Filter, unknown][] = [
    ['nothing', f(), {}],
    ['different fields', a().gt('b', 2), { a: 1, b: { $gt: 2 } }],
    ['the same field twice', f().gt('a', 1).lt('a', 5), { $and: [{ a: { $gt: 1 } }, { a: { $lt: 5 } }] }],
    [
      'a third after that',
      f().gt('a', 1).lt('a', 5).eq('c', 3),
      { $and: [{ a: { $gt: 1 } }, { a: { $lt: 5 } }, { c: 3 }] },
    ],
    ['or', a().or(b()), { $or: [{ a: 1 }, { b: 2 }] }],
    ['or again', a().or(b()).or(f().eq('c', 3)), { $or: [{ a: 1 }, { b: 2 }, { c: 3 }] }],
    ['or on nothing', f().or(a()), { $or: [{}, { a: 1 }] }],
    ['or, then eq', a().or(b()).eq('c', 3), { $and: [{ $or: [{ a: 1 }, { b: 2 }] }, { c: 3 }] }],
    ['not first', f().not(a()), { $and: [{}, { $not: [{ a: 1 }] }] }],
    ['not after', a().not(b()), { $and: [{ a: 1 }, { $not: [{ b: 2 }] }] }],
    ['not of nothing', f().not(f()), { $and: [{}, { $not: [{}] }] }],
    ['and', a().and(b()), { a: 1, b: 2 }],
    ['and of the same field', a().and(a()), { $and: [{ a: 1 }, { a: 1 }] }],
    ['and of an or', a().and(a().or(b())), { $and: [{ a: 1 }, { $or: [{ a: 1 }, { b: 2 }] }] }],
    ['between', f().between('a', 1, 5), { $and: [{ a: { $gte: 1 } }, { a: { $lt: 5 } }] }],
    ['between and more', b().between('a', 1, 5), { $and: [{ b: 2 }, { a: { $gte: 1 } }, { a: { $lt: 5 } }] }],
  ];
  test.each(table)('%s', (_, built, wire) => {
    expect(built.toJSON()).toEqual(wire);
  });

  test('a filter never changes', () => {
    const base = a();
    base.eq('b', 2).or(b());
    expect(base.toJSON()).toEqual({ a: 1 });
  });
});

describe('operators', () => {
  const when = new Date('2024-03-05T06:07:08.009Z');
  const table: [Filter, unknown][] = [
    [f().eq('a', null), { a: null }],
    [f().eq('a', when), { a: { $date: '2024-03-05T06:07:08.009Z' } }],
    [f().eq('a', ['x', when]), { a: ['x', { $date: '2024-03-05T06:07:08.009Z' }] }],
    [f().eq('a', { x: 1 }), { a: { x: 1 } }],
    [f().eq('a', { $gt: 1 }), { a: { $eq: { $gt: 1 } } }],
    [f().ne('a', 'x'), { a: { $ne: 'x' } }],
    [f().ge('a', 1), { a: { $gte: 1 } }],
    [f().le('a', when), { a: { $lte: { $date: '2024-03-05T06:07:08.009Z' } } }],
    [f().startsWith('a', 'x'), { a: { $startsWith: 'x' } }],
    [f().contains('a.b', ''), { 'a.b': { $contains: '' } }],
    [f().hasSome('a', []), { a: { $hasSome: [] } }],
    [f().in('a', ['x', 1]), { a: { $in: ['x', 1] } }],
  ];
  test.each(table)('%#', (built, wire) => {
    expect(built.toJSON()).toEqual(wire);
  });
});

describe('mistakes are told before any request', () => {
  const wrong = f() as unknown as Record<string, (...given: unknown[]) => unknown>;
  const table: [string, unknown[], string][] = [
    ['eq', [1, 1], 'WDE0048'],
    ['eq', ['', 1], 'WDE0048'],
    ['eq', ['$or', []], 'WDE0048'],
    ['eq', ['a', new Date(Number.NaN)], 'INVALID_ARGUMENT'],
    ['gt', ['a', null], 'WDE0045'],
    ['lt', ['a', {}], 'WDE0045'],
    ['between', ['a', 1, 'x'], 'WDE0046'],
    ['between', ['a', true, false], 'WDE0045'],
    ['startsWith', ['a', 1], 'WDE0044'],
    ['contains', ['a', null], 'WDE0044'],
    ['hasSome', ['a', 'x'], 'WDE0047'],
    ['in', ['a', [{}]], 'WDE0047'],
    ['and', [{ a: 1 }], 'WDE0049'],
    ['or', [undefined], 'WDE0049'],
    ['not', ['x'], 'WDE0049'],
  ];
  test.each(table)('%s(%j) → %s', (method, given, code) => {
    let thrown: unknown;
    try {
      wrong[method]?.(...given);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(StoaError);
    expect(thrown).toMatchObject({ code, status: 0 });
  });
});
