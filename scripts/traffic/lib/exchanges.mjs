// Reads what servers under test wrote down: files of JSON lines, an exchange each (crates/http/src/exchange/mod.rs).
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A body as it was written down. One that is not whole has bytes that are missing.
 * @typedef {{ text?: string, base64?: string, size: number, isWhole: boolean } | null} Body
 *
 * @typedef {object} Exchange
 * @property {string} test
 * @property {string} method
 * @property {string} path       as it was sent
 * @property {string | null} query
 * @property {string} canonical  the path without its site and its alias
 * @property {string | null} route  as it stands in the table of routes; null for what has none
 * @property {{ headers: Record<string, string>, body: Body }} request
 * @property {number} status
 * @property {{ headers: Record<string, string>, body: Body }} response
 */

/** The files of exchanges below a directory. @param {string} directory @returns {string[]} */
export function filesBelow(directory) {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  const files = entries.filter((it) => it.isFile() && it.name.endsWith('.jsonl'));
  return files.map((it) => join(it.parentPath ?? it.path, it.name)).sort();
}

/**
 * The exchanges of a file, one after another, and `{ isFull: true }` where the file took no more. A last line without
 * an end is that of a server that was killed, and is left out.
 * @param {string} file
 * @returns {Generator<Exchange | { isFull: true }>}
 */
export function* exchangesOf(file) {
  for (const line of linesOf(file)) yield JSON.parse(line);
}

/** @param {string} file @returns {Generator<string>} */
function* linesOf(file) {
  const descriptor = openSync(file, 'r');
  try {
    const chunk = Buffer.allocUnsafe(1 << 20);
    /** @type {Buffer[]} */
    let begun = [];
    for (let size = readSync(descriptor, chunk); size > 0; size = readSync(descriptor, chunk)) {
      let from = 0;
      for (let end = chunk.indexOf(10, from); end !== -1 && end < size; end = chunk.indexOf(10, from)) {
        const piece = chunk.subarray(from, end);
        yield (begun.length ? Buffer.concat([...begun, piece]) : piece).toString();
        begun = [];
        from = end + 1;
      }
      if (from < size) begun.push(Buffer.from(chunk.subarray(from, size)));
    }
  } finally {
    closeSync(descriptor);
  }
}
