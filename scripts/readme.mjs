#!/usr/bin/env node
// Runs the code blocks of README.md and docs/*.md as printed, in order, each page against a fresh `make run` in a
// terminal of its own: what that prints is compared as well, links are opened in Chromium, and at the end the addresses
// that the page names answer and the demo shows its data.
//
//   scripts/readme.mjs [PAGE…]
//
// STOA_BIN names the program; one that was built elsewhere is what `make run` then starts. Data, files and commands are
// those of a folder of its own, and another port stands in for one that is taken, so that the data of who runs this stay
// as they are. The unmodified client packages are those of conformance/, the browser's steps those of e2e/. What the
// blocks mean: scripts/lib/documented-commands.mjs.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { programPath } from '../conformance/lib/stoa.mjs';
import { launchBrowser } from '../e2e/lib/browser.mjs';
import { title } from '../e2e/lib/steps.mjs';
import {
  addressesOf,
  blocksOf,
  fits,
  hasCommands,
  isPrinted,
  problemsOf,
  scriptOf,
  terminalOf,
} from './lib/documented-commands.mjs';
import { openTerminal } from './lib/terminal.mjs';

/** `make run` builds what is out of date. */
const START_LIMIT_MS = 1_800_000;
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
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
let terminal;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void Promise.resolve(terminal?.interrupt()).finally(() => process.exit(1)));
let failed = 0;
let passed = 0;
const browser = await launchBrowser();
try {
  const port = await portToUse();
  for (const page of pages) {
    const markdown = readFileSync(join(root, page), 'utf8').replaceAll(`:${PRINTED_PORT}`, `:${port}`);
    const blocks = blocksOf(markdown);
    const wrong = problemsOf(blocks).map((it) => `${page}:${it}`);
    if (wrong.length === 0 && !hasCommands(blocks)) continue;
    const problem = wrong.join('\n') || (await run({ page, markdown, blocks, port }).catch((error) => error.message));
    if (problem) failed += 1;
    else passed += 1;
    console.log(problem ? `failed  ${page}\n${problem.replace(/^/gm, '        ')}` : `ok      ${page}`);
  }
  for (const text of unknownOptions()) {
    failed += 1;
    console.log(`failed  ${text}`);
  }
} finally {
  await browser.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed || passed === 0 ? 1 : 0;

/** Runs one page against a server of its own; gives back what went wrong. */
async function run({ page, markdown, blocks, port }) {
  const folder = join(work, page.replaceAll('/', '-'));
  const out = join(folder, 'printed');
  const here = join(folder, 'stoa');
  mkdirSync(out, { recursive: true });
  mkdirSync(join(here, 'target/release'), { recursive: true });
  symlinkSync(program, join(here, 'target/release/stoa'));
  symlinkSync(packages, join(here, 'node_modules'));

  const { command, shown, line } = terminalOf(blocks) ?? { command: 'make run', shown: '…\n', line: 0 };
  const env = { ...newcomer(), STOA_DATA: join(here, 'data'), STOA_PORT: String(port) };
  // What lies where `make run` builds it is built by it, if anything of it is out of date.
  if (program !== join(root, 'target/release/stoa')) env.STOA_BIN = program;
  terminal = openTerminal(command, { cwd: root, env });
  let problem;
  try {
    await terminal.waitFor(/^ready .+\n/m, START_LIMIT_MS);
    const last = terminal.printed().trimEnd().split('\n').slice(-shown.trimEnd().split('\n').length).join('\n');
    if (!fits(shown, last)) return `${page}:${line}: shows\n${shown}but this was printed\n${last}`;
    problem = (await runBlocks({ page, blocks, here, out })) ?? (await answers({ markdown, port }));
  } finally {
    const isInTime = await terminal.interrupt();
    if (!isInTime) problem ??= `${command} goes on after Ctrl-C\n${terminal.printed()}`;
    // Where the server ends well on the signal, make has nothing to say.
    if (/^make.*\*\*\*/m.test(terminal.printed())) problem ??= `${command} ended badly\n${terminal.printed()}`;
  }
  return problem;
}

/** Runs the commands of a page, and compares what they print. */
async function runBlocks({ page, blocks, here, out }) {
  const env = { ...newcomer(), PATH: `${join(here, 'target/release')}${delimiter}${process.env.PATH}` };
  const script = scriptOf(blocks, page, out, `'${join(root, 'scripts/lib/follow-link.mjs')}'`);
  const { status, stderr } = await runBash(script, { cwd: here, env, timeout: LIMIT_MS });
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
    if (isPrinted(block.language) && !fits(block.text, said(before.line)))
      return `${page}:${block.line}: shows\n${block.text}but this was printed\n${said(before.line)}${stderr}`;
    before = block;
  }
  return undefined;
}

/** What is wrong once all commands have run: with the addresses that the page names, or with the demo. */
async function answers({ markdown, port }) {
  for (const address of addressesOf(markdown, port)) {
    const status = await statusOf(address);
    if (status >= 400) return `${address} answers ${status}`;
  }
  return browser.visit({}, async (page) => {
    await page.goto(`http://127.0.0.1:${port}/`);
    await title(page, 'Every place has a name').waitFor();
    await page.getByRole('link', { name: 'Countries' }).first().click();
    await page.getByRole('table').getByRole('link', { name: 'Portugal' }).waitFor();
  });
}

/** The status of an address as a browser asks: each name beneath localhost is this machine. */
function statusOf(address) {
  const { host, port, pathname } = new URL(address);
  return new Promise((done, fail) => {
    const headers = { host, accept: 'text/html' };
    get({ host: '127.0.0.1', port, path: pathname, headers }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    }).on('error', fail);
  });
}

/** The environment of somebody who has set nothing up. */
function newcomer() {
  const isSetUp = ([name]) => /^(STOA_|MAKE|MFLAGS)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter((it) => !isSetUp(it)));
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
