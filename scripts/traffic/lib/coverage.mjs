// Which operations, statuses and codes tests brought about, of those that are described.

/** @typedef {import('./operations.mjs').Operation} Operation */

/** A status with a code, where it has one. @param {number | string} status @param {string} [code] */
const pair = (status, code) => (code === undefined ? `${status}` : `${status} ${code}`);

/** @param {Operation[]} operations @param {Set<string>} shared */
export function coverage(operations, shared) {
  /** @type {Map<string, Set<string>>} */
  const seen = new Map(operations.map((it) => [it.id, new Set()]));
  /** What any of them brought about. @type {Set<string>} */
  const seenOfAny = new Set();

  return {
    /** @param {Operation | undefined} operation @param {number} status @param {string} [code] */
    note(operation, status, code) {
      const own = operation && seen.get(operation.id);
      for (const it of [pair(status), pair(status, code)]) {
        seenOfAny.add(it);
        own?.add(it);
      }
    },
    /** How many of the operations were asked. */
    asked: () => [...seen.values()].filter((it) => it.size > 0).length,
    /**
     * What is described and was not brought about: whole operations, and a status or code of one; with `*` for the
     * operation what many share, which one of them is enough for.
     * @returns {{ operation: string, status?: number, code?: string }[]}
     */
    missing() {
      /** @type {Map<string, { operation: string, status?: number, code?: string }>} */
      const missing = new Map();
      for (const operation of operations) {
        const own = seen.get(operation.id) ?? new Set();
        if (own.size === 0) {
          missing.set(operation.id, { operation: operation.id });
          continue;
        }
        for (const { status, code, isShared } of described(operation, shared)) {
          if ((isShared ? seenOfAny : own).has(pair(status, code))) continue;
          const name = isShared ? '*' : operation.id;
          missing.set(`${name} ${pair(status, code)}`, { operation: name, status, code });
        }
      }
      return [...missing.values()];
    },
  };
}

/** @param {Operation} operation @param {Set<string>} shared */
function* described(operation, shared) {
  for (const [name, { codes, isShared }] of operation.responses) {
    const status = Number(name);
    // `default` and `4XX` promise nothing in particular.
    if (Number.isNaN(status)) continue;
    if (codes.length === 0) yield { status, code: undefined, isShared };
    for (const code of codes) yield { status, code, isShared: isShared || shared.has(code) };
  }
}
