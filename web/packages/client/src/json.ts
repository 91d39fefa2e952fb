/**
 * Values on the wire: a Date travels as `{"$date":"2024-03-05T06:07:08.009Z"}` at any depth
 * (docs/protocol/content.md §2). Everything else is JSON as it is; names inside items are never changed.
 */
import { isPlainObject } from './check.ts';
import { invalid } from './error.ts';

/** Any value of an item. */
export type Json =
  null | boolean | number | string | Date | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Replaces Dates by their wire form. Throws for an invalid Date: it would be stored as an empty object. */
export function encode(value: unknown): unknown {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw invalid('INVALID_ARGUMENT', 'A Date is invalid.');
    return { $date: value.toISOString() };
  }
  if (Array.isArray(value)) return value.map(encode);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, encode(each)]));
}

/** The way back. `{"$date"}` that is not the text of a date stays as it is. */
export function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (!isPlainObject(value)) return value;
  const date = value['$date'];
  if (typeof date === 'string' && Object.keys(value).length === 1) {
    const parsed = new Date(date);
    return Number.isNaN(parsed.getTime()) ? value : parsed;
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, decode(each)]));
}
