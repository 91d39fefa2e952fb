#!/usr/bin/env node
// Runs the code blocks of README.md and docs/*.md as printed, in order, against a server that was started as
// `make run` starts it, each page with a demo of its own; the demo must still answer afterwards.
//
//   scripts/readme.mjs [PAGE…]
//
// STOA_BIN names the program. The unmodified client packages are those of conformance/. What the blocks mean:
// scripts/lib/documented-commands.mjs.
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { programPath, stoaAt } from '../conformance/lib/stoa.mjs';
import { blocksOf, fits, hasCommands, problemsOf, scriptOf } from './lib/documented-commands.mjs';

const LIMIT_MS = 120_000;
const PRINTED_PORT = 4400;

const root = resolve(import.meta.dirname, '..');
const program = programPath();
const packages = join(root, 'conformance/node_modules');
if (!existsSync(join(packages, '@wix/sdk'))) stop('the client packages are missing: run npm ci in conformance');
const all = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`),
];
const pages = process.argv.length > 2 ? process.argv.slice(2) : all;

const work = mkdtempSync(join(tmpdir(), 'stoa-readme-'));
let failed = 0;
let passed = 0;
try {
  const port = await portToUse();
  const demo = join(work, 'demo', 'data');
  const made = await stoaAt({ data: demo }).serve('--port', '0', '--demo');
  await made.stop();
  for (const page of pages) {
    const printed = readFileSync(join(root, page), 'utf8');
    const blocks = blocksOf(port === PRINTED_PORT ? printed : printed.replaceAll(`:${PRINTED_PORT}`, `:${port}`));
    const wrong = problemsOf(blocks).map((it) => `${page}:${it}`);
    if (wrong.length === 0 && !hasCommands(blocks)) continue;
    const problem = wrong.join('\n') || (await run(page, blocks, demo, port));
    if (problem) failed += 1;
    else passed += 1;
    console.log(problem ? `failed  ${page}\n${problem.replace(/^/gm, '        ')}` : `ok      ${page}`);
  }
  for (const text of unknownOptions()) {
    failed += 1;
    console.log(`failed  ${text}`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed || passed === 0 ? 1 : 0;

/** Runs one page; gives back what went wrong. */
async function run(page, blocks, demo, port) {
  const folder = join(work, page.replaceAll('/', '-'));
  const out = join(folder, 'printed');
  const here = join(folder, 'stoa');
  mkdirSync(out, { recursive: true });
  mkdirSync(join(here, 'target/release'), { recursive: true });
  symlinkSync(program, join(here, 'target/release/stoa'));
  symlinkSync(packages, join(here, 'node_modules'));
  cpSync(demo, join(here, 'data'), { recursive: true, filter: (from) => !from.endsWith('.sock') });

  const server = await stoaAt({ data: join(here, 'data') }).serve('--port', String(port), '--demo');
  try {
    const env = { ...process.env, PATH: `${join(here, 'target/release')}${delimiter}${process.env.PATH}` };
    for (const name of Object.keys(env)) if (/^STOA_/.test(name)) delete env[name];
    // Not waited for with everything else standing still: the server's own output is read meanwhile.
    const { status, stderr } = await runBash(scriptOf(blocks, page, out), { cwd: here, env, timeout: LIMIT_MS });
    const said = (line) => {
      const file = join(out, String(line));
      return existsSync(file) ? readFileSync(file, 'utf8') : '';
    };
    if (status !== 0) {
      const at = said('at').trim();
      return `${at}: ended with ${status}\n${said(at.split(':').at(-1))}${stderr}`;
    }
    let before;
    for (const block of blocks) {
      if (block.language === 'text' && !fits(block.text, said(before.line)))
        return `${page}:${block.line}: shows\n${block.text}but this was printed\n${said(before.line)}${stderr}`;
      before = block;
    }
    const answer = await fetch(`${server.url}/`);
    if (!answer.ok) return `the demo answers ${answer.status} afterwards`;
  } finally {
    const code = await server.stop();
    if (code) failed += 1;
    if (code) console.log(`stoa serve ended with ${code} on SIGTERM, after ${page}`);
  }
  return undefined;
}

/** @returns {Promise<{ status: number | string, stderr: string }>} */
function runBash(script, options) {
  return new Promise((done) => {
    execFile('bash', ['-c', script], options, (error, _, stderr) =>
      done({ status: error ? (error.code ?? error.signal ?? 'nothing') : 0, stderr }),
    );
  });
}

/** Options of `stoa serve` that pages, container or service name and the program does not have. */
function unknownOptions() {
  const { stdout: help } = spawnSync(program, ['serve', '--help'], { encoding: 'utf8' });
  return [...all, ...readdirSync(join(root, 'deploy')).map((name) => `deploy/${name}`)].flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').match(/\bstoa serve\b.*/g) ?? [];
    const options = lines.flatMap((line) => line.split('`')[0].match(/--[a-z-]+/g) ?? []);
    return options.filter((it) => !help.includes(it)).map((it) => `${file}: stoa serve has no ${it}`);
  });
}

/** The port that the pages name, or a free one, which then stands in its place. */
function portToUse() {
  const free = (port) =>
    new Promise((done) => {
      const probe = createServer();
      probe.once('error', () => done(undefined));
      probe.listen(port, '127.0.0.1', () => {
        const { port: got } = probe.address();
        probe.close(() => done(got));
      });
    });
  return free(PRINTED_PORT).then((port) => port ?? free(0));
}

function stop(message) {
  console.error(`scripts/readme.mjs: ${message}`);
  process.exit(1);
}
