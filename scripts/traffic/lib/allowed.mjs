// What is allowed not to fit, and why: an entry that nothing needs any more fails too.
import { readFileSync } from 'node:fs';

/**
 * @typedef {{ why: string }} Reason
 * @typedef {Reason & { operation: string, status?: number, code?: string }} Unproduced  no test can bring it about
 * @typedef {Reason & { path: string }} Undescribed  paths that begin so are no part of the interface
 * @typedef {Reason & { test: string }} Lenient  tests whose name begins so send on purpose what isn't described
 * @typedef {{ unproduced: Unproduced[], undescribed: Undescribed[], lenient: Lenient[] }} List
 */

/** @param {string} file */
export const readAllowed = (file) => allowedBy(JSON.parse(readFileSync(file, 'utf8')));

/** @param {Partial<List>} list */
export function allowedBy({ unproduced = [], undescribed = [], lenient = [] }) {
  for (const it of [...unproduced, ...undescribed, ...lenient])
    if (typeof it.why !== 'string' || it.why.length < 10)
      throw new Error(`no reason is given for ${JSON.stringify(it)}`);
  /** @type {Set<Reason>} */
  const used = new Set();
  /** @param {Reason | undefined} entry */
  const use = (entry) => {
    if (entry) used.add(entry);
    return entry !== undefined;
  };
  return {
    /** @param {{ operation: string, status?: number, code?: string }} it */
    isUnproduced: ({ operation, status, code }) =>
      use(unproduced.find((it) => it.operation === operation && it.status === status && it.code === code)),
    /** @param {string} path */
    isUndescribed: (path) => use(undescribed.find((it) => path.startsWith(it.path))),
    /** @param {string} test */
    isLenient: (test) => use(lenient.find((it) => test.startsWith(it.test))),
    /** Entries that nothing needed. */
    idle: () => [...unproduced, ...undescribed, ...lenient].filter((it) => !used.has(it)),
  };
}
