#!/usr/bin/env node
// Development: the server is compiled again and restarted when a Rust source changes, and every web app
// runs under Vite, which reloads the page and passes each service's paths on to the server.
//
//   scripts/dev.mjs [--port N]     the server's port, 4400 by default; the pages have the ports after it
//
// Files are polled, so nothing has to be installed and network file systems work. A program that does
// not compile leaves the last one that did running.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
const at = process.argv.indexOf('--port');
const port = Number(at > 0 ? process.argv[at + 1] : (process.env.STOA_PORT ?? 4400));
if (!Number.isInteger(port) || port < 1 || port > 65_000) stopWith('--port wants a number from 1 to 65000');
const server = `http://127.0.0.1:${port}`;
const target = join(root, 'target');
const binary = join(target, 'debug', 'stoa');
// The apps' own Vite configurations read it.
process.env.STOA_URL = server;
const cargoEnvironment = { ...process.env, CARGO_TARGET_DIR: target };
// Every prefix under which a service answers; the pages themselves are Vite's.
const passedOn = [
  '/_api',
  '/_iam',
  '/oauth2',
  '/oauth/',
  '/iam/',
  '/v1/',
  '/v2/',
  '/wix-data',
  '/data/',
  '/cms/',
  '/data-mover',
  '/data-move-scheduler',
  '/redirect-session',
  '/headless',
  '/graphql',
  '/healthz',
  '/readyz',
];

let running = null;
const vites = [];

// The server carries the built pages, so they have to be there once.
if (spawnSync('scripts/build', ['--pages'], { stdio: 'inherit' }).status !== 0) process.exit(1);
let seen = snapshot();
await rebuild();
await serveApps();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void stopAll());

for (;;) {
  await new Promise((done) => setTimeout(done, 500));
  const now = snapshot();
  if (now === seen) continue;
  seen = now;
  await rebuild();
}

async function rebuild() {
  const status = await new Promise((done) => {
    spawn('cargo', ['build', '-p', 'stoa-server'], { stdio: 'inherit', env: cargoEnvironment }).on('close', done);
  });
  if (status !== 0) {
    console.error(
      running ? 'not compiled: the server before this change goes on' : 'not compiled: waiting for a change',
    );
    return;
  }
  await stopServer();
  const child = spawn(
    binary,
    ['serve', '--data', process.env.STOA_DATA ?? './data', '--port', String(port), '--demo'],
    { stdio: 'inherit' },
  );
  running = child;
  child.on('close', (code) => {
    if (running !== child) return;
    running = null;
    console.error(`the server ended (${code}); it is started again after the next change`);
  });
}

async function stopServer() {
  const child = running;
  if (!child) return;
  running = null;
  const ended = new Promise((done) => child.on('close', done));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(late);
}

async function serveApps() {
  const apps = readdirSync('web/apps')
    .filter((name) => existsSync(`web/apps/${name}/vite.config.ts`))
    .sort();
  const vite = await import(pathToFileURL(createRequire(join(root, 'web/package.json')).resolve('vite')).href);
  const bases = new Map(apps.map((name, index) => [name, { index, base: base(name) }]));
  for (const [name, { index }] of bases) {
    const proxy = Object.fromEntries(passedOn.map((path) => [path, { target: server }]));
    // An app's links to another app reach that app's own Vite.
    for (const [other, app] of bases) {
      if (other !== name && app.base !== '/')
        proxy[app.base.replace(/\/$/, '')] = { target: `http://127.0.0.1:${port + 1 + app.index}`, ws: true };
    }
    const started = await vite.createServer({
      root: join(root, 'web/apps', name),
      server: { host: '127.0.0.1', port: port + 1 + index, strictPort: true, proxy },
    });
    await started.listen();
    vites.push(started);
    console.log(`${name.padEnd(10)} http://localhost:${port + 1 + index}${bases.get(name).base}`);
  }
}

/** The path under which the app is served, as its Vite configuration says. */
function base(name) {
  return /base:\s*'([^']+)'/.exec(readFileSync(`web/apps/${name}/vite.config.ts`, 'utf8'))?.[1] ?? '/';
}

async function stopAll() {
  await Promise.all([stopServer(), ...vites.map((vite) => vite.close())]);
  process.exit(0);
}

/** Names and times of what the server is compiled from. */
function snapshot() {
  const lines = [];
  const visit = (path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return;
    if (stat.isDirectory()) for (const name of readdirSync(path)) name === 'target' || visit(join(path, name));
    else lines.push(`${path} ${stat.size} ${stat.mtimeMs}`);
  };
  ['crates', 'Cargo.toml', 'Cargo.lock'].forEach(visit);
  return lines.sort().join('\n');
}

function stopWith(message) {
  console.error(message);
  process.exit(2);
}
