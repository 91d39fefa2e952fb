// What does not fit together: the same thing in many exchanges is told once.

/**
 * @typedef {{ operation: string, text: string, count: number, where: string }} Misfit
 */

export function collector() {
  /** @type {Map<string, Misfit>} */
  const found = new Map();
  return {
    /**
     * @param {string} operation
     * @param {string} text
     * @param {import('./exchanges.mjs').Exchange} exchange where it was seen
     */
    add(operation, text, { test, method, path, status }) {
      const key = `${operation} ${text}`;
      const there = found.get(key);
      if (there) there.count += 1;
      else found.set(key, { operation, text, count: 1, where: `${test}: ${method} ${path} ${status}` });
    },
    /** All of them, those of an operation together. */
    list: () => [...found.values()].sort((a, b) => compare(a.operation, b.operation) || b.count - a.count),
  };
}

/** @param {string} a @param {string} b */
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
