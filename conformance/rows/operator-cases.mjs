// Every filter operator and composition of the query language, in each form that the client emits. A case
// gives the ids it must find on the shelf, as one string. Read by the rows in Node and by the page in Chromium.
import * as data from '@wix/data';
import { member, untyped } from '../lib/parse.mjs';
import { dates, without } from './shelf.mjs';

/** @import { items } from '@wix/data' */
/** @import { FilterBuilder, QueryBuilder } from '../lib/types.js' */

/** @typedef {Record<string, (value?: unknown) => object>} RawFilter */

const { D1, D2, D3 } = dates;
const all = without('');
/** Left out by the package's types. @type {{ Filter(field: string): RawFilter }} */
const { Filter } = untyped(data.items);

/** Built with the chained builder: (query, filter factory) → query. @type {[string, (q: QueryBuilder, f: () => FilterBuilder) => QueryBuilder, string][]} */
export const BUILT = [
  ['no filter', (q) => q, all],
  ['eq number, never a text', (q) => q.eq('n', 3), 'c'],
  ['eq text, never a number', (q) => q.eq('n', '3'), 'd'],
  ['eq is case-sensitive', (q) => q.eq('title', 'alpha'), ''],
  ['eq boolean', (q) => q.eq('flag', true), 'adh'],
  ['eq date, never an ISO text', (q) => q.eq('when', D1), 'a'],
  ['eq ISO text, never a date', (q) => q.eq('when', D1.toISOString()), 'e'],
  ['eq any element of an array', (q) => q.eq('tags', 'red'), 'abdf'],
  ['eq a whole array', (q) => q.eq('tags', ['red', 'blue']), 'a'],
  ['eq an empty array', (q) => q.eq('tags', []), 'c'],
  ['eq a whole object', (q) => q.eq('o', { p: { q: 1 } }), 'a'],
  ['eq null is null or missing', (q) => q.eq('title', null), 'fg'],
  ['eq empty text', (q) => q.eq('title', ''), 'e'],
  ['eq on a dotted path', (q) => q.eq('o.p.q', 1), 'a'],
  ['eq on a path into an array of objects', (q) => q.eq('rows.k', 2), 'h'],
  ['eq on _id', (q) => q.eq('_id', 'g'), 'g'],
  ['eq largest safe integer', (q) => q.eq('n', Number.MAX_SAFE_INTEGER), 'j'],
  ['eq unknown field', (q) => q.eq('nowhere', 1), ''],
  ['ne matches missing', (q) => q.ne('n', 3), without('c')],
  ['ne of an array: no element', (q) => q.ne('tags', 'red'), without('abdf')],
  ['ne null', (q) => q.ne('title', null), without('fg')],
  ['gt number', (q) => q.gt('n', 3), 'hijkl'],
  ['ge number', (q) => q.ge('n', 3), 'chijkl'],
  ['gte number', (q) => q.gte('n', 3), 'chijkl'],
  ['lt number, never missing', (q) => q.lt('n', 1), 'eg'],
  ['le number', (q) => q.le('n', 1), 'aeg'],
  ['lte number', (q) => q.lte('n', 1), 'aeg'],
  ['gt text by code point', (q) => q.gt('title', 'a'), 'bdhjk'],
  ['lt text by code point', (q) => q.lt('title', 'B'), 'aei'],
  ['gt date', (q) => q.gt('when', D2), 'ch'],
  ['lt date', (q) => q.lt('when', D3), 'ab'],
  ['gt boolean', (q) => q.gt('flag', false), 'adh'],
  ['gt on an array: any element', (q) => q.gt('nums', 1), 'ab'],
  ['gt on _createdDate', (q) => q.gt('_createdDate', new Date(Date.now() - 86_400_000)), all],
  ['between numbers, end excluded', (q) => q.between('n', 1, 5), 'abc'],
  ['between dates', (q) => q.between('when', D1, D3), 'ab'],
  ['between texts', (q) => q.between('title', 'a', 'c'), 'bd'],
  ['startsWith ignores case', (q) => q.startsWith('title', 'ALPHA'), 'ad'],
  ['startsWith folds beyond ASCII', (q) => q.startsWith('title', 'äp'), 'h'],
  ['endsWith ignores case', (q) => q.endsWith('title', 'WORLD'), 'kl'],
  ['contains ignores case, not accents', (q) => q.contains('title', 'A'), 'abcd'],
  ['contains a percent sign', (q) => q.contains('title', '%'), 'i'],
  ['contains an underscore', (q) => q.contains('title', '_'), 'j'],
  ['contains a quote', (q) => q.contains('title', "'"), 'j'],
  ['hasSome', (q) => q.hasSome('tags', ['green', 'blue']), 'af'],
  ['hasSome, several arguments', (q) => q.hasSome('tags', 'green', 'blue'), 'af'],
  ['hasSome numbers', (q) => q.hasSome('nums', [2, 3]), 'ab'],
  ['hasSome of nothing', (q) => q.hasSome('tags', []), ''],
  ['hasAll', (q) => q.hasAll('tags', ['red', 'blue']), 'af'],
  ['hasAll of nothing: every array', (q) => q.hasAll('tags', []), 'abcf'],
  ['in, of mixed kinds', (q) => q.in('n', [1, '3', 5.5]), 'adl'],
  ['in, any element', (q) => q.in('tags', ['green']), 'f'],
  ['in on _id', (q) => q.in('_id', ['a', 'z', 'l']), 'al'],
  ['in of nothing', (q) => q.in('n', []), ''],
  ['exists true: null counts', (q) => q.exists('title', true), without('g')],
  ['exists false', (q) => q.exists('title', false), 'g'],
  ['exists on a dotted path', (q) => q.exists('o.p.q', true), 'abc'],
  ['isEmpty', (q) => q.isEmpty('title'), 'fg'],
  ['isNotEmpty: empty text is a value', (q) => q.isNotEmpty('title'), without('fg')],
  ['different fields', (q) => q.eq('flag', true).gt('n', 0), 'ah'],
  ['the same field twice', (q) => q.gt('n', 1).lt('n', 5), 'bc'],
  ['and', (q, f) => q.eq('flag', true).and(f().gt('n', 5)), 'h'],
  ['or', (q, f) => q.eq('n', 1).or(f().eq('n', 2)), 'ab'],
  ['or, flattened', (q, f) => q.eq('n', 1).or(f().eq('n', 2)).or(f().eq('n', 5)), 'abk'],
  ['or on an empty query: all', (q, f) => q.or(f().eq('n', 1)), all],
  ['or, then eq', (q, f) => q.eq('n', 1).or(f().eq('n', 2)).eq('flag', true), 'a'],
  ['not: a list of one', (q, f) => q.eq('flag', true).not(f().eq('n', 1)), 'dh'],
  ['not first', (q, f) => q.not(f().eq('n', 1)), without('a')],
  ['not of a comparison matches missing and other kinds', (q, f) => q.not(f().lt('n', 1)), without('eg')],
  ['not of not', (q, f) => q.not(f().not(f().eq('n', 1))), 'a'],
  ['not of nothing: none', (q, f) => q.not(f()), ''],
  ['not of or', (q, f) => q.not(f().eq('n', 1).or(f().eq('n', 2))), without('ab')],
  [
    'and of or and or',
    (q, f) => q.and(f().eq('n', 1).or(f().eq('n', 2))).and(f().eq('flag', true).or(f().eq('n', 9))),
    'a',
  ],
  ['a text that closes quotes', (q) => q.eq('title', "' OR '1'='1"), ''],
  ['a field name that closes quotes', (q) => q.eq("x') OR 1=1 --", 1), ''],
  ['a field name with double quotes', (q) => q.eq('a"b', 1), ''],
];

const matches = (/** @type {string} */ first, /** @type {string} */ second) => ({
  $matches: {
    ignoreCase: true,
    spec: [
      { type: 'literal', value: first },
      { type: 'anyOf', value: ' \t\n-' },
      { type: 'literal', value: second },
    ],
  },
});

/** Raw filters, as the classes of the client or a caller of the direct form make them. @type {[string, object, string][]} */
export const RAW = [
  ['$eq', Filter('n').eq(3), 'c'],
  ['$ne', Filter('n').ne(3), without('c')],
  ['$gt', Filter('n').gt(3), 'hijkl'],
  ['$gte', Filter('n').gte(3), 'chijkl'],
  ['$lt', Filter('n').lt(1), 'eg'],
  ['$lte', Filter('n').lte(1), 'aeg'],
  ['$startsWith', Filter('title').startsWith('ALPHA'), 'ad'],
  ['$endsWith', Filter('title').endsWith('WORLD'), 'kl'],
  ['$contains', Filter('title').contains('%'), 'i'],
  ['$in', Filter('n').in([1, 2]), 'ab'],
  ['$nin matches missing', Filter('n').nin([1, 2]), without('ab')],
  ['$nin of an array', Filter('tags').nin(['red']), without('abdf')],
  ['$nin of nothing: all', { filter: { n: { $nin: [] } } }, all],
  ['$hasSome', Filter('tags').hasSome(['green']), 'f'],
  ['$hasAll', Filter('tags').hasAll(['red', 'blue']), 'af'],
  ['$exists', Filter('title').exists(false), 'g'],
  ['$isEmpty true', Filter('title').isEmpty(), 'fg'],
  ['$isEmpty false', { filter: { title: { $isEmpty: false } } }, without('fg')],
  ['$isNotEmpty', Filter('title').isNotEmpty(), without('fg')],
  ['$matches, one or more separators', { filter: { title: matches('hello', 'world') } }, 'kl'],
  ['$matches is of the whole value', { filter: { title: matches('ello', 'world') } }, ''],
  ['$not as an object', { filter: { $not: { n: 1 } } }, without('a')],
  ['$not as a list of one', { filter: { $not: [{ n: 1 }] } }, without('a')],
  ['$not at a field', { filter: { n: { $not: { $eq: 1 } } } }, without('a')],
  ['$not at a field beside another operator', { filter: { n: { $gt: 1, $not: { $eq: 3 } } } }, 'bhijkl'],
  ['$and of nothing: all', { filter: { $and: [] } }, all],
  ['$and with {}', { filter: { $and: [{}, { n: 1 }] } }, 'a'],
  ['two operators in one object', { filter: { n: { $gt: 1, $lt: 3 } } }, 'b'],
  [
    'logical and field keys side by side',
    { filter: { n: { $gte: 1 }, $or: [{ title: 'Alpha' }, { title: 'beta' }], $not: { flag: false } } },
    'a',
  ],
  [
    'nested $not, $and, $or',
    { filter: { $not: { $or: [{ n: 1 }, { $and: [{ n: 2 }, { $not: [{ flag: true }] }] }] } } },
    without('ab'),
  ],
  ['a {"$date"} value', { filter: { when: { $date: D1.toISOString() } } }, 'a'],
  ['a {"$date"} operand', { filter: { when: { $gte: { $date: D3.toISOString() } } } }, 'ch'],
  [
    '_owner and _updatedDate as fields',
    { filter: { _updatedDate: { $exists: true }, _owner: { $ne: 'nobody' } } },
    all,
  ],
  ['one level too deep', { filter: { filter: { n: { $eq: 3 } } } }, 'c'],
];

/** @param {{ items: { _id?: string }[] }} result */
export const idsOf = (result) =>
  result.items
    .map((item) => item._id)
    .sort()
    .join('');

/** @param {object} filter of the class `Filter`, or `{ filter }` */
export const plain = (filter) => /** @type {object} */ (member(filter, 'filter') ?? filter);

/** A query or filter with every method that the package has. @param {items.WixDataQuery} query @returns {QueryBuilder} */
export const wide = (query) => untyped(query);

/** @param {items.WixDataFilter} filter @returns {FilterBuilder} */
export const wideFilter = (filter) => untyped(filter);
