// Every name that docs/semantics.md, docs/defence.md and docs/security.md give as their proof is there: a case file, or a test in a
// file of that name. What docs/security.md counts is what it lists.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const crates = readdirSync(join(root, 'crates')).map((crate) => join('crates', crate));
const packages = ['web/packages', 'web/apps'].flatMap((folder) =>
  readdirSync(join(root, folder)).flatMap((it) => [join(folder, it, 'src'), join(folder, it, 'test')]),
);

const isVitest = (path) => /\.test\.tsx?$/.test(path);
const tests = ['tests', ...crates.map((it) => join(it, 'tests'))].flatMap((it) => files(it, isRust));
const sources = crates.flatMap((it) => files(join(it, 'src'), isRust));
const ofPages = packages.flatMap((it) => files(it, isVitest));

function isRust(path) {
  return path.endsWith('.rs');
}

function files(folder, isMeant) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .filter(isMeant)
    .map((path) => join(root, folder, path));
}

function isThere(name) {
  if (name.endsWith('.case')) return existsSync(join(root, 'crates/query/cases', name));
  const at = name.indexOf('::');
  const [file, test] = [name.slice(0, at), name.slice(at + 2)];
  const has = (paths, isIn) => paths.some((path) => basename(path) === file && isIn(readFileSync(path, 'utf8')));
  if (isVitest(file)) return has(ofPages, (text) => text.includes(`'${test}'`) || text.includes(`"${test}"`));
  // A function of a source file is a test only where it says so.
  const isTest = new RegExp(`#\\[(?:tokio::)?test\\][^{]*\\bfn ${test}\\(`);
  const isFunction = new RegExp(`\\bfn ${test}\\(`);
  return has(tests, (text) => isFunction.test(text)) || has(sources, (text) => isTest.test(text));
}

/** The rows below the heads that begin with `head`. */
function rowsOf(file, head) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  let isIn = false;
  return lines.filter((line) => {
    if (!line.startsWith('| ')) isIn &&= line.startsWith('|');
    else if (line.startsWith(`| ${head} |`)) isIn = true;
    else return isIn;
    return false;
  });
}

/** What a row names in its last column. */
function namesOf(row) {
  const last = row.split(' | ').at(-1);
  return [...last.matchAll(/`([^`]*)`/g)].map(([, name]) => name);
}

function checkNames(row) {
  for (const name of namesOf(row)) {
    const form = /^([a-z_0-9]+\.case|[a-z_0-9]+\.rs::[a-z_0-9]+|[a-z-]+\.test\.tsx?::.+)$/;
    assert.match(name, form, `neither a case nor a test: ${row}`);
    assert.ok(isThere(name), `${name} is not there: ${row}`);
  }
}

/** The rows below the heads that begin with `head`, each with what shows it in its last column. */
function check(file, head, least) {
  const rows = rowsOf(file, head);
  assert.ok(rows.length >= least, `${rows.length} rows`);
  for (const row of rows) {
    assert.ok(namesOf(row).length > 0, `nothing shows: ${row}`);
    checkNames(row);
  }
}

test('answers name the test that shows them', () => check('docs/semantics.md', 'question', 60));
test('defences name the test that shows them', () => check('docs/defence.md', 'attack', 15));

const page = 'docs/security.md';
const states = ['holds', 'in part', 'not yet', 'does not apply'];
const stateOf = (row) => row.split(' | ')[2];
/** How many requirements the sections of ASVS 5.0 have. */
const SECTIONS =
  '6.1:3 6.2:12 6.3:8 6.4:6 6.5:8 6.6:4 6.7:2 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:3 7.6:2 9.1:3 9.2:4 ' +
  '10.1:2 10.2:3 10.3:5 10.4:16 10.5:5 10.6:2 10.7:3';

test('rows of the standards say how they stand, and name the test where something holds', () => {
  for (const row of [...rowsOf(page, 'section'), ...rowsOf(page, '#'), ...rowsOf(page, 'attempt')]) {
    const state = stateOf(row);
    assert.equal(row.split(' | ').length, 5, `five columns: ${row}`);
    assert.ok(states.includes(state), `no state: ${row}`);
    if (state === 'holds' || state === 'in part') assert.ok(namesOf(row).length > 0, `nothing shows: ${row}`);
    if (state !== 'holds') assert.ok(row.split(' | ')[3].length > 10, `no reason: ${row}`);
    checkNames(row);
  }
});

test('each requirement stands there once', () => {
  const numbers = rowsOf(page, '#').map((row) => row.split(' | ')[0].slice(2));
  assert.deepEqual(numbers, [...new Set(numbers)]);
  const all = SECTIONS.split(' ').flatMap((it) => {
    const [section, count] = it.split(':');
    return Array.from({ length: Number(count) }, (_, at) => `${section}.${at + 1}`);
  });
  assert.deepEqual([...numbers].sort(), all.sort());
});

test('the counts at the end are those of the rows', () => {
  const count = (rows) => states.map((state) => rows.filter((row) => stateOf(row) === state).length);
  const chapters = {
    'RFC 9700': rowsOf(page, 'section'),
    ...Object.fromEntries(
      [6, 7, 9, 10].map((it) => [`ASVS V${it}`, rowsOf(page, '#').filter((row) => row.startsWith(`| ${it}.`))]),
    ),
    attacks: rowsOf(page, 'attempt'),
  };
  const expected = Object.entries(chapters).map(
    ([name, rows]) => `| ${[name, rows.length, ...count(rows)].join(' | ')} |`,
  );
  assert.deepEqual(rowsOf(page, 'of'), expected);
});
