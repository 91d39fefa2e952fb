/** Checks of arguments that need no request. Codes and wording follow the data service's own catalogue. */
import { invalid } from './error.ts';

type Kind = 'boolean' | 'language' | 'signal';

/** The options of the calls on items, by what may stand in them. Anything else is refused: a misspelt flag is a bug. */
const kinds = {
  suppressAuth: 'boolean',
  suppressHooks: 'boolean',
  showDrafts: 'boolean',
  consistentRead: 'boolean',
  returnTotalCount: 'boolean',
  language: 'language',
  signal: 'signal',
} as const satisfies Record<string, Kind>;

export type OptionName = keyof typeof kinds;

/** Throws WDE0018 unless `options` is an object that holds nothing but the `allowed` options, each of its type. */
export function checkOptions(options: unknown, allowed: readonly OptionName[]): void {
  if (options === undefined) return;
  if (!isPlainObject(options)) throw invalid('WDE0018', 'Options must be an object.');
  for (const [name, value] of Object.entries(options)) {
    const known = allowed.find((each) => each === name);
    if (known === undefined) {
      throw invalid('WDE0018', `Unknown option "${name}". This call knows ${allowed.join(', ')}.`);
    }
    if (value === undefined) continue;
    const kind = kinds[known];
    if (kind === 'boolean' && typeof value !== 'boolean') {
      throw invalid('WDE0018', `Option "${name}" must be true or false.`);
    }
    if (kind === 'language' && (typeof value !== 'string' || value === '')) {
      throw invalid('WDE0018', `Option "${name}" must be a language tag.`);
    }
    if (kind === 'signal' && !(value instanceof AbortSignal)) {
      throw invalid('WDE0018', `Option "${name}" must be an AbortSignal.`);
    }
  }
}

/** Throws a plain refusal when `given` has a member that is not in `allowed`. */
export function checkKeys(what: string, given: object, allowed: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (!allowed.includes(name)) {
      throw invalid('WDE0018', `Unknown option "${name}" of ${what}. It knows ${allowed.join(', ')}.`);
    }
  }
}

export function checkCollection(collection: unknown): asserts collection is string {
  if (typeof collection !== 'string' || collection === '') {
    throw invalid('WDE0001', 'The name of a collection must be a string that is not empty.');
  }
}

export function checkItemId(id: unknown): asserts id is string {
  if (typeof id !== 'string' || id === '') {
    throw invalid('WDE0002', 'The id of an item must be a string that is not empty.');
  }
}

export function checkItem(item: unknown): asserts item is Record<string, unknown> {
  if (!isPlainObject(item)) throw invalid('WDE0004', 'An item must be an object.');
  const id = item['_id'];
  if ('_id' in item && id !== undefined && (typeof id !== 'string' || id === '')) {
    throw invalid('WDE0007', 'The _id of an item must be a string that is not empty.');
  }
}

/** An integer of at least `least`, below 2^53. */
export function checkCount(name: 'limit' | 'skip', value: unknown): asserts value is number {
  if (typeof value !== 'number') throw invalid('WDE0032', `${name} must be a number.`);
  if (name === 'limit' && !(value > 0)) throw invalid('WDE0033', 'limit must be above 0.');
  if (name === 'skip' && !(value >= 0)) throw invalid('WDE0034', 'skip must not be below 0.');
  if (!Number.isSafeInteger(value)) throw invalid('WDE0035', `${name} must be a whole number.`);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
