// The table of allowed arrows between folders, as ARCHITECTURE.md has it: a block of code marked `arrows`.
import { dirname, join } from 'node:path/posix';

export const page = 'ARCHITECTURE.md';

/**
 * `{ uses, exceptions, problems }`: `uses` maps a place to `{ line, names }`, with the places that it may use
 * and the line of each, `exceptions` maps a file to the reason why what it uses isn't counted.
 */
export function arrowsTable(tree) {
  return tree.cached('arrows', () => {
    const table = { isThere: false, uses: new Map(), exceptions: new Map(), problems: [] };
    if (!tree.has(page)) return table;
    const lines = tree.text(page).split('\n');
    const start = lines.findIndex((it) => it.trim() === '```arrows');
    if (start === -1) return table;
    table.isThere = true;
    for (let at = start + 1; at < lines.length && !lines[at].startsWith('```'); at += 1)
      readLine(table, lines[at], at + 1);
    return table;
  });
}

function readLine(table, text, line) {
  if (!text.trim() || text.startsWith('#')) return;
  const exception = /^except (\S+): (.+)$/.exec(text);
  if (exception) {
    table.exceptions.set(exception[1], { line, reason: exception[2] });
    return;
  }
  const [, place, names] = /^(\S+):(.*)$/.exec(text) ?? [];
  if (!place) {
    table.problems.push({ line, text: 'reads neither as `folder: folder, folder` nor as `except file: reason`' });
    return;
  }
  if (table.uses.has(place)) table.problems.push({ line, text: `${place} has two lines` });
  const parent = dirname(place);
  table.uses.set(place, {
    line,
    // A name is a sibling of the folder; one with a slash counts from the root.
    names: names
      .split(',')
      .map((it) => it.trim())
      .filter(Boolean)
      .map((it) => (it.includes('/') ? it : join(parent, it))),
  });
}

/**
 * The place of a file: the nearest line of the table that holds it, else the folder that it is in directly
 * below its crate's or package's `src`. `x.rs` beside a folder `x` belongs to it. A file directly in `src` that
 * has no line is of the ground floor, which has no place.
 */
export function placeOf(tree, table, file) {
  const inSource = /^((?:crates|web\/(?:apps|packages))\/[^/]+\/src|bench\/src|fuzz\/src)\/(.+)$/.exec(file);
  if (!inSource) return undefined;
  const [, source, path] = inSource;
  const steps = path.split('/');
  const last = steps.pop();
  const module = last.replace(/\.rs$/, '');
  if (last !== module && tree.hasFolder([source, ...steps, module].join('/'))) steps.push(module);
  if (table.uses.has(file)) return file;
  for (let depth = steps.length; depth > 1; depth -= 1) {
    const folder = [source, ...steps.slice(0, depth)].join('/');
    if (table.uses.has(folder)) return folder;
  }
  return steps.length ? `${source}/${steps[0]}` : undefined;
}

/** What the ground floor of a file's crate is called in the table: `crates/x/src/*`. */
export const groundOf = (file) => file.replace(/\/src\/.*$/, '/src/*');
