// Every name that docs/semantics.md and docs/defence.md give as their proof is there: a case file, or a test in a file of that name.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = ['tests', ...readdirSync(join(root, 'crates')).map((crate) => join('crates', crate, 'tests'))];

function files(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .filter((path) => path.endsWith('.rs'))
    .map((path) => join(root, folder, path));
}

const tests = folders.flatMap(files);

function isThere(name) {
  if (name.endsWith('.case')) return existsSync(join(root, 'crates/query/cases', name));
  const [file, test] = name.split('::');
  return tests.some((path) => basename(path) === file && new RegExp(`fn ${test}\\(`).test(readFileSync(path, 'utf8')));
}

/** The rows below the heads that begin with `head`, each with what shows it in its last column. */
function check(file, head, least) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  let isIn = false;
  const rows = lines.filter((line) => {
    if (!line.startsWith('| ')) isIn &&= line.startsWith('|');
    else if (line.startsWith(`| ${head} |`)) isIn = true;
    else return isIn;
    return false;
  });
  assert.ok(rows.length >= least, `${rows.length} rows`);
  for (const row of rows) {
    const names = [
      ...row
        .split(' | ')
        .at(-1)
        .matchAll(/`([^`]*)`/g),
    ].map(([, name]) => name);
    assert.ok(names.length > 0, `nothing shows: ${row}`);
    for (const name of names) {
      assert.match(name, /^([a-z_0-9]+\.case|[a-z_0-9]+\.rs::[a-z_0-9]+)$/, `neither a case nor a test: ${row}`);
      assert.ok(isThere(name), `${name} is not there: ${row}`);
    }
  }
}

test('answers name the test that shows them', () => check('docs/semantics.md', 'question', 60));
test('defences name the test that shows them', () => check('docs/defence.md', 'attack', 15));
