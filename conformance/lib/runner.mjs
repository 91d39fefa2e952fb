// Runs rows one after another and names each outcome. A row is one check of one client method.

import { member, messageOf } from './parse.mjs';

/** @import { Exchange } from './recorder.mjs' */
/** @import { World } from './world.mjs' */

/**
 * @typedef {object} Row
 * @property {string} method    name as in the catalogue, for example `items.query`
 * @property {string} check     what is expected, in a few words
 * @property {boolean} [required]  must work now; otherwise the row is only listed
 * @property {boolean} [sentByTest]  the run writes what causes it: the server has nothing yet that would
 * @property {boolean} [refused]  the server refuses it by name, as `run` checks; it gives the reason, and counts as not built
 * @property {boolean} [compare]   the value `run` gives must be equal on both engines
 * @property {(world: World) => unknown} run
 *
 * @typedef {'works' | 'fails' | 'not built yet'} Outcome
 * @typedef {object} Result
 * @property {string} method
 * @property {string} check
 * @property {boolean} required
 * @property {Outcome} outcome
 * @property {boolean} [sentByTest]
 * @property {string} [reason]  why it fails or is not built
 * @property {unknown} [value]
 * @property {Exchange[]} [exchanges]
 * @property {number} ms
 */

const ROW_LIMIT_MS = 45_000;

/**
 * @param {Row[]} rows
 * @param {World} world
 * @returns {Promise<Result[]>}
 */
export async function runRows(rows, world) {
  const results = [];
  for (const row of rows) {
    const started = Date.now();
    world.recorder.clear();
    /** @type {Result} */
    const result = { method: row.method, check: row.check, required: row.required === true, outcome: 'works', ms: 0 };
    try {
      const value = await withLimit(Promise.resolve(row.run(world)));
      if (row.compare) result.value = plain(value);
      if (row.sentByTest) result.sentByTest = true;
      if (row.refused) Object.assign(result, { outcome: 'not built yet', reason: String(value) });
    } catch (error) {
      const exchanges = world.recorder.since(0);
      result.outcome = !row.required && isUnbuilt(error, exchanges.at(-1)) ? 'not built yet' : 'fails';
      result.reason = describe(error);
      result.exchanges = exchanges.slice(-3);
    }
    result.ms = Date.now() - started;
    results.push(result);
    if (process.env.CONFORMANCE_VERBOSE)
      console.error(`${result.outcome.padEnd(14)}${row.method}: ${row.check} (${result.ms} ms)`);
  }
  return results;
}

/** @param {Promise<unknown>} promise */
async function withLimit(promise) {
  let timer;
  const limit = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no result within ${ROW_LIMIT_MS} ms`)), ROW_LIMIT_MS);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Tells an answer of "there is no such thing here" from a wrong answer.
 * @param {unknown} error
 * @param {Exchange | undefined} last
 */
function isUnbuilt(error, last) {
  const code = String(applicationCode(error) ?? '');
  const status = member(error, 'status') ?? last?.status;
  if (code === 'WDE0119' || status === 428 || status === 501 || status === 405) return true;
  return status === 404 && !code.startsWith('WDE');
}

/** @param {unknown} error */
function describe(error) {
  const text = messageOf(error) || String(error);
  const code = applicationCode(error);
  const lines = text.split('\n').slice(0, 30).join('\n');
  return code && !text.includes(String(code)) ? `${lines} [${code}]` : lines;
}

/** @param {unknown} error */
function applicationCode(error) {
  return member(member(member(error, 'details'), 'applicationError'), 'code');
}

/** @param {unknown} value */
function plain(value) {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}
