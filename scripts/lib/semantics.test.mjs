// Every name that docs/semantics.md and docs/defence.md give as their proof is there: a case file, or a test in a file of that name.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = ['tests', ...readdirSync(join(root, 'crates')).map((it) => join('crates', it, 'tests'))];

function files(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .filter((it) => it.endsWith('.rs'))
    .map((it) => join(root, folder, it));
}

const tests = folders.flatMap(files);

function isThere(name) {
  if (name.endsWith('.case')) return existsSync(join(root, 'crates/query/cases', name));
  const [file, test] = name.split('::');
  return tests.some((it) => basename(it) === file && new RegExp(`fn ${test}\\(`).test(readFileSync(it, 'utf8')));
}

/** The rows below the heads that begin with `head`, each with what shows it in its last column. */
function check(file, head, least) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  let isIn = false;
  const rows = lines.filter((it) => {
    if (!it.startsWith('| ')) isIn &&= it.startsWith('|');
    else if (it.startsWith(`| ${head} |`)) isIn = true;
    else return isIn;
    return false;
  });
  assert.ok(rows.length >= least, `${rows.length} rows`);
  for (const row of rows) {
    const names = [
      ...row
        .split(' | ')
        .at(-1)
        .matchAll(/`([a-z_0-9]+\.case|[a-z_]+\.rs::[a-z_0-9]+)`/g),
    ].map((it) => it[1]);
    assert.ok(names.length > 0, `nothing shows: ${row}`);
    for (const name of names) assert.ok(isThere(name), `${name} is not there: ${row}`);
  }
}

test('each answer names what shows it', () => check('docs/semantics.md', 'question', 60));
test('each defence names what shows it', () => check('docs/defence.md', 'attack', 15));
