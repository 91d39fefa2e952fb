/** The order of a query, for items that arrive one by one: the same as the server's (docs/semantics.md §Order). */
import { isPlainObject } from './check.ts';

/** The order of one field. */
export interface WireSort {
  readonly fieldName: string;
  readonly order: 'ASC' | 'DESC';
}

/** The server's order when a query gives none. */
export const newestFirst: readonly WireSort[] = [{ fieldName: '_createdDate', order: 'DESC' }];

/** Compares two items: below 0 when `a` comes first. 0 only for the same item, as the id decides at last. */
export type Compare = (a: object, b: object) => number;

/** @param sort What counts first stands first. The id follows in the direction of the last. */
export function comparison(sort: readonly WireSort[]): Compare {
  const keys = sort.map(({ fieldName, order }) => ({ path: fieldName.split('.'), sign: order === 'ASC' ? 1 : -1 }));
  const last = keys.at(-1)?.sign ?? 1;
  return (a, b) => {
    for (const { path, sign } of keys) {
      const result = compareValues(placeOf(a, path, sign), placeOf(b, path, sign));
      if (result !== 0) return result * sign;
    }
    return compareValues(memberOf(a, '_id'), memberOf(b, '_id')) * last;
  };
}

/** What decides among the values at a path: of arrays the smallest element ascending, the largest descending. */
function placeOf(item: object, path: readonly string[], sign: number): unknown {
  let found: unknown[] = [item];
  for (const [depth, name] of path.entries()) {
    found = (depth === 0 ? found : found.flatMap(itselfOrElements))
      .map((each) => memberOf(each, name))
      .filter((each) => each !== undefined);
  }
  const [first, ...others] = found.flatMap(itselfOrElements);
  return others.reduce((best, each) => (compareValues(each, best) * sign < 0 ? each : best), first);
}

const itselfOrElements = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

function memberOf(value: unknown, name: string): unknown {
  return isPlainObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function compareValues(a: unknown, b: unknown): number {
  const kind = kindOf(a);
  const other = kindOf(b);
  if (kind !== other) return kind - other;
  if (kind === 1 || kind === 5 || kind === 6) return Number(a) - Number(b);
  if (kind === 2) return compareTexts(String(a), String(b));
  return kind === 0 ? 0 : compareTexts(printed(a), printed(b));
}

/** Missing and null, numbers, texts, objects, arrays, booleans, dates. */
function kindOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (value instanceof Date) return 6;
  const kinds: Partial<Record<string, number>> = { number: 1, string: 2, boolean: 5 };
  return kinds[typeof value] ?? (Array.isArray(value) ? 4 : 3);
}

/**
 * By code points. JavaScript compares UTF-16 units, where what is beyond U+FFFF comes before U+E000 to U+FFFF.
 */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return above(left) - above(right);
  }
  return a.length - b.length;
}

/** Surrogates moved above all other units. */
const above = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** The text by which objects and arrays within arrays are compared: members by the length of their names, then by name. */
function printed(value: unknown): string {
  if (value instanceof Date) return `{"$date": "${value.toISOString()}"}`;
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`;
  if (!isPlainObject(value)) return JSON.stringify(value ?? null);
  const names = Object.keys(value).sort((a, b) => a.length - b.length || compareTexts(a, b));
  return `{${names.map((name) => `${JSON.stringify(name)}: ${printed(value[name])}`).join(', ')}}`;
}
