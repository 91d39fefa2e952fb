/**
 * Conditions on items, built step by step and never changed: each method gives a new object. The result is the plain
 * JSON of the query language (docs/protocol/content.md §4), composed as listed in docs/protocol/content.md §4.2.
 */
import { isPlainObject } from './check.ts';
import { invalid } from './error.ts';
import { type Json, encode } from './json.ts';

/** A filter as the server reads it. `{}` matches every item. */
export interface WireFilter {
  readonly [fieldOrLogic: string]: unknown;
}

/** A member of the item, or a dotted path into it. */
export type FieldName<Item> = (keyof Item & string) | (string & {});

/** What can be ordered. Only values of the same type are ever compared. */
export type Ordered = number | string | boolean | Date;
/** What can stand in a list of `in` and `hasSome`. */
export type Listed = number | string | Date;

/** The methods that {@link Filter} and `Query` share. */
export abstract class Conditions<Item, Self> {
  /** @internal The filter so far, in wire form. */
  readonly wire: WireFilter;

  /** @internal */
  protected constructor(wire: WireFilter) {
    this.wire = wire;
  }

  /** @internal The same thing with another filter. */
  protected abstract with(wire: WireFilter): Self;

  /** The field equals `value`; for an array field, an element does. Case counts. `null` also matches a missing field. */
  eq(field: FieldName<Item>, value: Json): Self {
    const plain = encode(value);
    // An object whose keys look like operators would be read as operators.
    const ambiguous =
      isPlainObject(plain) && !(value instanceof Date) && Object.keys(plain).some((key) => key.startsWith('$'));
    return this.#where('eq', field, ambiguous ? { $eq: plain } : plain);
  }

  /** Not {@link eq}: items without the field match too. */
  ne(field: FieldName<Item>, value: Json): Self {
    return this.#where('ne', field, { $ne: encode(value) });
  }

  /** Greater than. */
  gt(field: FieldName<Item>, value: Ordered): Self {
    return this.#compare('gt', field, '$gt', value);
  }

  /** Greater than or equal. */
  ge(field: FieldName<Item>, value: Ordered): Self {
    return this.#compare('ge', field, '$gte', value);
  }

  /** Less than. Items without the field do not match. */
  lt(field: FieldName<Item>, value: Ordered): Self {
    return this.#compare('lt', field, '$lt', value);
  }

  /** Less than or equal. */
  le(field: FieldName<Item>, value: Ordered): Self {
    return this.#compare('le', field, '$lte', value);
  }

  /** `from` ≤ the field < `to`: the upper end is not included. */
  between<Value extends number | string | Date>(field: FieldName<Item>, from: Value, to: Value): Self {
    const kinds = [from, to].map(kindOf);
    if (kinds.some((kind) => kind !== 'number' && kind !== 'string' && kind !== 'date')) {
      throw invalid('WDE0045', 'between takes numbers, strings or Dates.');
    }
    if (kinds[0] !== kinds[1]) throw invalid('WDE0046', 'Both ends of between must be of the same type.');
    checkField('between', field);
    return this.with(
      conjoin(this.wire, { $and: [{ [field]: { $gte: encode(from) } }, { [field]: { $lt: encode(to) } }] }),
    );
  }

  /** The text begins with `value`; case does not count, accents do. */
  startsWith(field: FieldName<Item>, value: string): Self {
    return this.#text('startsWith', field, '$startsWith', value);
  }

  /** The text contains `value`; case does not count, accents do. */
  contains(field: FieldName<Item>, value: string): Self {
    return this.#text('contains', field, '$contains', value);
  }

  /** The array holds at least one of `values`. */
  hasSome(field: FieldName<Item>, values: readonly Listed[]): Self {
    return this.#list('hasSome', field, '$hasSome', values);
  }

  /** The field equals one of `values`. An empty list matches nothing. */
  in(field: FieldName<Item>, values: readonly Listed[]): Self {
    return this.#list('in', field, '$in', values);
  }

  /** What is asked so far, and `other` as well. */
  and(other: Conditions<Item, unknown>): Self {
    return this.with(conjoin(this.wire, operand('and', other)));
  }

  /** What is asked so far, or `other`. With nothing asked so far every item matches. */
  or(other: Conditions<Item, unknown>): Self {
    const right = operand('or', other);
    const already = onlyList(this.wire, '$or');
    return this.with({ $or: already === null ? [this.wire, right] : [...already, right] });
  }

  /** What is asked so far, but not `other`. */
  not(other: Conditions<Item, unknown>): Self {
    const negated = { $not: [operand('not', other)] };
    const already = onlyList(this.wire, '$and');
    return this.with({ $and: already === null ? [this.wire, negated] : [...already, negated] });
  }

  #where(method: string, field: unknown, condition: unknown): Self {
    checkField(method, field);
    return this.with(conjoin(this.wire, { [field]: condition }));
  }

  #compare(method: string, field: unknown, operator: string, value: unknown): Self {
    if (!['number', 'string', 'boolean', 'date'].includes(kindOf(value))) {
      throw invalid('WDE0045', `${method} takes a number, a string, a boolean or a Date.`);
    }
    return this.#where(method, field, { [operator]: encode(value) });
  }

  #text(method: string, field: unknown, operator: string, value: unknown): Self {
    if (typeof value !== 'string') throw invalid('WDE0044', `${method} takes a string.`);
    return this.#where(method, field, { [operator]: value });
  }

  #list(method: string, field: unknown, operator: string, values: unknown): Self {
    const fits = (value: unknown) => ['number', 'string', 'date'].includes(kindOf(value));
    if (!Array.isArray(values) || !values.every(fits)) {
      throw invalid('WDE0047', `${method} takes an array of numbers, strings or Dates.`);
    }
    return this.#where(method, field, { [operator]: encode(values) });
  }
}

/** Conditions on their own, to be joined with `and`, `or` and `not`. */
export class Filter<Item = Record<string, unknown>> extends Conditions<Item, Filter<Item>> {
  /** @internal Use {@link filter}. */
  constructor(wire: WireFilter = {}) {
    super(wire);
  }

  /** @internal */
  protected override with(wire: WireFilter): Filter<Item> {
    return new Filter(wire);
  }

  /** The filter as the server reads it. */
  toJSON(): WireFilter {
    return this.wire;
  }
}

/** An empty filter: `filter().eq('country', 'FR')`. */
export function filter<Item = Record<string, unknown>>(): Filter<Item> {
  return new Filter();
}

/** Both: one object while no key is asked twice, a `$and` list after that. */
function conjoin(left: WireFilter, right: WireFilter): WireFilter {
  const list = onlyList(left, '$and');
  if (list !== null) return { $and: [...list, ...(onlyList(right, '$and') ?? [right])] };
  if (Object.keys(left).length === 0) return right;
  const logical = [left, right].some((each) => Object.keys(each).some((key) => key.startsWith('$')));
  const twice = Object.keys(right).some((key) => Object.hasOwn(left, key));
  if (!logical && !twice) return { ...left, ...right };
  return { $and: [...split(left), ...(onlyList(right, '$and') ?? [right])] };
}

/** `{a, b}` as `[{a}, {b}]`. */
function split(wire: WireFilter): WireFilter[] {
  return Object.entries(wire).map(([key, value]) => ({ [key]: value }));
}

/** The operands when the filter is nothing but this logical operator. */
function onlyList(wire: WireFilter, operator: '$and' | '$or'): readonly WireFilter[] | null {
  const keys = Object.keys(wire);
  const list = wire[operator];
  return keys.length === 1 && Array.isArray(list) ? (list as readonly WireFilter[]) : null;
}

function operand(method: string, other: unknown): WireFilter {
  if (!(other instanceof Conditions)) throw invalid('WDE0049', `${method} takes a filter or a query.`);
  return (other as Conditions<unknown, unknown>).wire;
}

function checkField(method: string, field: unknown): asserts field is string {
  if (typeof field !== 'string' || field === '' || field.startsWith('$')) {
    throw invalid('WDE0048', `The field of ${method} must be the name of a field.`);
  }
}

function kindOf(value: unknown): string {
  return value instanceof Date ? 'date' : typeof value;
}
