import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { concerns, fetchRustSec, npmAudit, readAdvisory, readRustSec, satisfies } from './advisories.mjs';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const work = mkdtempSync(join(tmpdir(), 'stoa-advisories-'));
after(() => rmSync(work, { recursive: true, force: true }));

const ID = 'RUSTSEC-2030-0001';
const advisory = (name, versions, more = '') => `\`\`\`toml
[advisory]
id = "${ID}"
package = "${name}"
date = "2030-01-01"
${more}

[affected.functions]
"${name}::open" = ["< 1.0"]

[versions]
${versions}
\`\`\`

# A test of the check

What it is.
`;

/** A database of one advisory. */
function database(name, versions, more) {
  const folder = mkdtempSync(join(work, 'db-'));
  mkdirSync(join(folder, 'crates', name), { recursive: true });
  writeFileSync(join(folder, 'crates', name, `${ID}.md`), advisory(name, versions, more));
  return folder;
}

/** Runs the whole check; npm's registry is an address at which nothing listens. */
const check = (...args) => {
  const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/', STOA_ADVISORY_DB: '' };
  const script = join(root, 'scripts/check-dependencies.mjs');
  return run('node', [script, ...args], { env, maxBuffer: 1 << 26 }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
};

test('requirement is met by versions as cargo means it', () => {
  for (const [requirement, met, missed] of [
    ['>= 1.2.3', ['1.2.3', '1.10.0', '2.0.0'], ['1.2.2', '1.2.3-rc.1']],
    ['>=1.2, <1.4', ['1.2.0', '1.3.9'], ['1.1.9', '1.4.0']],
    ['< 0.5', ['0.4.9', '0.5.0-alpha'], ['0.5.0', '1.0.0']],
    ['> 1.2', ['1.3.0'], ['1.2.9']],
    ['> 1.2.3', ['1.2.4'], ['1.2.3']],
    ['<= 1.2', ['1.2.9'], ['1.3.0']],
    ['= 1.2', ['1.2.0', '1.2.9'], ['1.3.0', '1.1.9']],
    ['=1.2.3', ['1.2.3'], ['1.2.4']],
    ['^1.2.3', ['1.2.3', '1.9.0'], ['1.2.2', '2.0.0']],
    ['^0.2.3', ['0.2.3', '0.2.9'], ['0.2.2', '0.3.0']],
    ['^0.0.3', ['0.0.3'], ['0.0.4', '0.0.2']],
    ['^0', ['0.9.0'], ['1.0.0']],
    ['0.2', ['0.2.9'], ['0.3.0']],
    ['~1.2.3', ['1.2.9'], ['1.3.0', '1.2.2']],
    ['~1', ['1.9.0'], ['2.0.0']],
    ['1.*', ['1.0.0', '1.9.9'], ['2.0.0']],
    ['*', ['0.0.1'], []],
  ]) {
    for (const version of met) assert.equal(satisfies(version, requirement), true, `${version} meets ${requirement}`);
    for (const version of missed)
      assert.equal(satisfies(version, requirement), false, `${version} misses ${requirement}`);
  }
  assert.throws(() => satisfies('1.0.0', 'newest'), /not a version requirement/);
});

test('advisory concerns what is neither patched nor unaffected', () => {
  const read = (versions, more) => readAdvisory(advisory('some', versions, more), 'first');
  const one = read('patched = [\n  "^0.20.9", # the old line\n  ">= 0.21.11",\n]\nunaffected = ["< 0.3"]');
  assert.deepEqual(one.safe, ['^0.20.9', '>= 0.21.11', '< 0.3']);
  assert.equal(one.title, 'A test of the check');
  for (const version of ['0.20.8', '0.21.10', '0.3.0']) assert.equal(concerns(one, version), true, version);
  for (const version of ['0.20.9', '0.21.11', '1.0.0', '0.2.9']) assert.equal(concerns(one, version), false, version);
  assert.equal(concerns(read('patched = []'), '7.0.0'), true);
  assert.equal(concerns(read('patched = []', 'withdrawn = "2030-02-01"'), '7.0.0'), false);
  assert.equal(read('patched = []', "informational = 'unmaintained'").informational, 'unmaintained');
  assert.throws(() => read(''), /first: an advisory has id, package and versions.patched/);
  assert.throws(() => readAdvisory('# no head', 'second'), /second: an advisory begins with/);
});

test('RustSec is read from its address, and kept for when that is gone', async () => {
  const source = database('serde', 'patched = [">= 99.0.0"]');
  const git = (...args) => execFileSync('git', ['-C', source, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args]);
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'One');
  const folder = join(work, 'cache');
  assert.deepEqual(await fetchRustSec(`file://${source}`, folder), { folder });
  const { date, advisories } = await readRustSec(folder, ['serde', 'serde', 'axum']);
  assert.match(date, /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual(
    advisories.map(({ id }) => id),
    [ID],
  );

  mkdirSync(join(source, 'crates', 'axum'));
  writeFileSync(join(source, 'crates', 'axum', `${ID.replace(/1$/, '2')}.md`), advisory('axum', 'patched = []'));
  git('add', '.');
  git('commit', '--quiet', '--message', 'Two');
  await fetchRustSec(`file://${source}`, folder);
  assert.equal((await readRustSec(folder, ['axum'])).advisories.length, 1, 'the newer state');

  rmSync(source, { recursive: true });
  const later = await fetchRustSec(`file://${source}`, folder);
  assert.equal(later.folder, folder);
  assert.match(later.problem, /could not be reached/);
  const never = await fetchRustSec(`file://${source}`, join(work, 'none'));
  assert.equal(never.folder, undefined);
  assert.match(never.problem, /could not be reached/);
});

test('check fails on a crate that a local copy of RustSec names', async () => {
  const hit = await check('--advisory-db', database('serde', 'patched = [">= 99.0.0"]'));
  assert.equal(hit.code, 1, hit.stderr);
  assert.match(hit.stdout, /^advisory: crates.io serde 1\.\S+: RUSTSEC-2030-0001: A test of the check$/m);
  assert.doesNotMatch(hit.stdout, /RustSec: /);

  const fixed = await check('--advisory-db', database('serde', 'patched = [">= 1.0.0"]'));
  assert.equal(fixed.code, 0, fixed.stdout + fixed.stderr);
  const unkept = await check('--advisory-db', database('serde', 'patched = []', 'informational = "unmaintained"'));
  assert.equal(unkept.code, 0, unkept.stdout + unkept.stderr);
  assert.match(unkept.stdout, /^unmaintained: crates.io serde /m);
  const wrong = await check('--advisory-db', work);
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.stderr, /is no copy of the RustSec database/);
});

test('check names what it could not look up, and passes', async () => {
  const { code, stdout } = await check('--advisory-url', `file://${join(work, 'nowhere')}`);
  assert.equal(code, 0, stdout);
  const { refreshed, advisories } = JSON.parse(readFileSync(join(root, 'scripts/advisories.json'), 'utf8'));
  assert.match(stdout, new RegExp(`RustSec: .* could not be reached .*; compared with the excerpt of ${refreshed}`));
  const [, missed] = /^RustSec: .*\n {2}not looked up \(\d+\): (.*)$/m.exec(stdout) ?? [];
  const names = new Set(missed.split(', ').map((it) => it.split(' ')[0]));
  const locked = [...readFileSync(join(root, 'Cargo.lock'), 'utf8').matchAll(/^name = "(.*)"\nversion.*\nsource/gm)];
  const known = new Set(advisories.map(({ name }) => name));
  for (const [, name] of locked) assert.ok(names.has(name) || known.has(name), `${name} is in neither list`);
  assert.match(stdout, /npm audit of web\/package-lock.json: .*\n {2}not looked up \(\d+\): .*\breact \d/);
});

test('npm audit tells the packages of a lock file, and why it could not', async () => {
  const folder = mkdtempSync(join(work, 'npm-'));
  const write = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value));
  const entry = { version: '1.0.0', resolved: 'http://127.0.0.1/one.tgz', integrity: `sha512-${'a'.repeat(86)}==` };
  const manifest = { name: 'test', version: '1.0.0', dependencies: { one: '1.0.0' } };
  write('package.json', manifest);
  write('package-lock.json', {
    ...{ name: 'test', version: '1.0.0', lockfileVersion: 3 },
    packages: { '': manifest, 'node_modules/one': entry },
  });
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      response.setHeader('content-type', 'application/json');
      if (request.method === 'POST') {
        const asked = JSON.parse(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
        const url = 'https://github.com/advisories/GHSA-test-test-test';
        const found = { id: 1, url, title: 'Bad', severity: 'low', vulnerable_versions: '<2.0.0' };
        response.end(JSON.stringify(asked.one ? { one: [found] } : {}));
      } else response.end(JSON.stringify({ name: 'one', versions: { '1.0.0': { name: 'one', version: '1.0.0' } } }));
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const before = process.env.npm_config_registry;
  try {
    process.env.npm_config_registry = `http://127.0.0.1:${server.address().port}/`;
    const { found, problem } = await npmAudit(folder);
    assert.equal(problem, undefined);
    assert.deepEqual(found, [{ name: 'one', version: '<2.0.0', id: 'GHSA-test-test-test', title: 'Bad' }]);
    process.env.npm_config_registry = 'http://127.0.0.1:9/';
    assert.ok((await npmAudit(folder)).problem);
  } finally {
    if (before === undefined) delete process.env.npm_config_registry;
    else process.env.npm_config_registry = before;
    server.close();
  }
});
