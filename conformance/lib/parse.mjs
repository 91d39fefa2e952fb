// Reads values of unknown shape: what a program printed, what a server answered, what was thrown.
// Imports no package, so that e2e can use it.

/**
 * The value, which must be there.
 * @template T
 * @param {T} value
 * @param {string} [name] names the value in the error
 * @returns {NonNullable<T>}
 */
export function present(value, name = 'a value') {
  if (value === undefined || value === null) throw new Error(`${name} is missing`);
  return value;
}

/**
 * An answer with the id that it must have; the packages' types leave it open.
 * @template {{ _id?: string | null }} T
 * @param {T} value
 * @returns {T & { _id: string }}
 */
export function identified(value) {
  return { ...value, _id: present(value._id, 'the id') };
}

/**
 * A member of an object, or undefined where there is no object.
 * @param {unknown} value
 * @param {string} key
 */
export function member(value, key) {
  return typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value)[key] : undefined;
}

/**
 * A member that must be a text.
 * @param {unknown} value
 * @param {string} key
 */
export function text(value, key) {
  const found = member(value, key);
  if (typeof found !== 'string') throw new Error(`no text "${key}" in ${JSON.stringify(value)}`);
  return found;
}

/** The message of whatever was thrown. @param {unknown} thrown */
export function messageOf(thrown) {
  const message = member(thrown, 'message');
  return typeof message === 'string' ? message : String(thrown);
}

/**
 * A value that its type forbids, given on purpose: to see what the server answers, or because the type
 * does not know what the package takes.
 * @param {unknown} value
 * @returns {never}
 */
export const untyped = (value) => /** @type {never} */ (value);

/**
 * The functions that a package publishes and its types leave out.
 * @param {object} module
 * @returns {Record<string, (...args: unknown[]) => Promise<unknown>>}
 */
export const undocumented = (module) => untyped(module);
