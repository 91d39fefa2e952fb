// What docs/deployment.md and deploy/ name is there: options, variables, keys, files, routes.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { blocksOf } from './documented-commands.mjs';

const root = resolve(import.meta.dirname, '../..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const page = read('docs/deployment.md');
const unit = read('deploy/stoa.service');
const container = read('deploy/Containerfile');
const configuration = read('docs/configuration.md');

test('options, variables and keys of a deployment are in the configuration', () => {
  for (const text of [page, unit, container])
    for (const [name] of text.matchAll(/\bSTOA_[A-Z_]+/g))
      assert.ok(configuration.includes(`\`${name}\``), `${name} is no variable`);
  const served = [page, unit].flatMap((text) => text.match(/\bstoa serve\b.*/g) ?? []);
  assert.ok(served.length >= 3);
  for (const [option] of served.join('\n').matchAll(/--[a-z-]+/g))
    assert.ok(option === '--config' || configuration.includes(`${option} `), `${option} is no option`);
  const example = blocksOf(page).find(({ file }) => file === 'stoa.toml');
  let table = '';
  for (const line of example.text.split('\n')) {
    table = /^\[(\w+)\]$/.exec(line)?.[1] ?? table;
    const key = /^(\w+) =/.exec(line)?.[1];
    const name = table ? `${table}.${key}` : key;
    if (key) assert.ok(configuration.includes(`\`${name}\``), `${name} is no key`);
  }
});

test('container copies what is there and runs without root', () => {
  const ours = [...container.matchAll(/^RUN (scripts\/\S+)/gm)].map(([, path]) => path);
  assert.ok(ours.length > 0 && ours.every((path) => existsSync(join(root, path))), ours.join());
  const stages = container.split(/^FROM /m).slice(1);
  const last = stages.at(-1);
  assert.match(last, /^USER [1-9]\d*:[1-9]\d*$/m);
  assert.match(last, /^VOLUME (\S+)$/m);
  assert.ok(last.includes(`STOA_DATA=${/^VOLUME (\S+)$/m.exec(last)[1]}`), 'the volume is the data');
  const named = stages.map((stage) => /^\S+ AS (\w+)/.exec(stage)?.[1]);
  for (const [, from] of container.matchAll(/--from=(\w+)/g)) assert.ok(named.includes(from), from);
  const [, route] = /GET (\/\S+) HTTP/.exec(last);
  assert.ok(read('crates/http/src/routes/site.rs').includes(`"${route}"`), `${route} is no route`);
});

test('health of a container is that of the server', async () => {
  const [, list] = /HEALTHCHECK .*? CMD (\[[\s\S]*?\])\n/.exec(container);
  const [program, ...args] = JSON.parse(list.replaceAll('\\\n', ''));
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end('{}'));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const check = () =>
    new Promise((done) => {
      const env = { ...process.env, STOA_PORT: String(server.address().port) };
      execFile(program, args, { env, timeout: 5000 }, (error) => done(error === null));
    });
  assert.equal(await check(), true);
  status = 503;
  assert.equal(await check(), false);
  const gone = server.address().port;
  await new Promise((done) => server.close(done));
  assert.notEqual(spawnSync(program, args, { env: { ...process.env, STOA_PORT: String(gone) } }).status, 0);
});

test('service is hardened, and systemd reads it', (context) => {
  for (const line of ['User=stoa', 'UMask=0077', 'StateDirectory=stoa', 'ProtectSystem=strict', 'NoNewPrivileges=yes'])
    assert.ok(unit.split('\n').includes(line), line);
  const [, data] = /--data (\S+)/.exec(unit);
  assert.equal(data, '/var/lib/stoa', 'the directory that StateDirectory makes');
  try {
    execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
  } catch {
    context.diagnostic('systemd-analyze is not installed here');
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'stoa-unit-'));
  try {
    // A program that is there, so that what is left to say is about the unit.
    writeFileSync(join(folder, 'stoa.service'), unit.replace('/usr/local/bin/stoa', '/bin/true'));
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, 'stoa.service')], {
      encoding: 'utf8',
    });
    const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('stoa.service'));
    assert.deepEqual(about, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
