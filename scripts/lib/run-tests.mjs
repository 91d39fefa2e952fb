#!/usr/bin/env node
// @ts-check
// Runs the test programs that cargo built, a few side by side: tests wait for disks, clocks and other processes,
// and cargo would run one program after another. Programs that run at once have a PostgreSQL each, because a
// transaction of one delays what another may read from its outbox. Reads `cargo test --no-run --message-format=json` from standard
// input. A program that passes leaves a line and what it printed beside libtest's own lines, one that fails
// everything. Ends with 1 when one failed or there was none.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Its tests wait most of the time: it has twice the threads, so that it ends with the others. */
const LONGEST = 'tests it';
/** What takes longest begins first, so that the end is not a wait for one of them. */
const LONG = [LONGEST, 'server it', 'content it', 'webhooks it', 'realtime it', 'bench soak', 'tests jobs'];
/** Programs that run at the same time. */
const AT_ONCE = Number(process.env.STOA_TEST_PROGRAMS ?? 3);
/** Threads of each; more processors than this would ask for more connections than the database has. */
const THREADS = Math.min(Math.max(availableParallelism(), 2), 8);

/**
 * @typedef {{ name: string, path: string, folder: string }} Program
 * @typedef {{ program: Program, passed: number, failed: boolean, seconds: number, output: string }} Result
 */

/**
 * The test programs among cargo's messages, the long ones first.
 * @param {string} messages one JSON object a line
 * @returns {Program[]}
 */
export function programs(messages) {
  const built = messages.split('\n').filter((line) => line.startsWith('{'));
  const found = built.flatMap((line) => {
    const message = JSON.parse(line);
    if (message.reason !== 'compiler-artifact' || !message.profile.test || !message.executable) return [];
    const folder = dirname(message.manifest_path);
    return [{ name: `${basename(folder)} ${message.target.name}`, path: message.executable, folder }];
  });
  const place = (/** @type {Program} */ it) => (LONG.includes(it.name) ? LONG.indexOf(it.name) : LONG.length);
  return found.sort((a, b) => place(a) - place(b));
}

/**
 * What is worth reading of a run that passed: everything but libtest's own lines.
 * @param {string} output
 */
export function remarks(output) {
  const own = /^(running \d+ tests?|test .* \.\.\. ok|test result: ok\..*|\s*ok|\s*)$/;
  return output.split('\n').filter((line) => !own.test(line));
}

/**
 * The tests that failed, each with the beginning of what it says: the end of a long output is what a log keeps.
 * @param {string} output
 * @returns {string[]} a line each
 */
export function failures(output) {
  const told = output.split(/^---- (\S+) stdout ----$/m).slice(1);
  return told.flatMap((it, n) => {
    if (n % 2 === 0) return [it];
    const lines = it
      .split(/^stack backtrace:$|^failures:$/m)[0]
      .split('\n')
      .filter((line) => line.trim() !== '');
    return lines.slice(0, 6).map((line) => `    ${line.slice(0, 300)}`);
  });
}

/**
 * Starts a PostgreSQL that ends when its input does.
 * @returns {Promise<{ env: Record<string, string>, stop(): void }>}
 */
async function startCluster() {
  const { STOA_TEST_POSTGRES: _, ...env } = process.env;
  const says = 'echo $STOA_TEST_POSTGRES; echo $STOA_TEST_POSTGRES_BIN; exec cat >/dev/null';
  const script = join(import.meta.dirname, '../with-postgres');
  const child = spawn(script, ['sh', '-c', says], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  /** @type {string[]} */
  const lines = [];
  for await (const line of createInterface(child.stdout)) if (lines.push(line) === 2) break;
  if (lines.length < 2) throw new Error('no PostgreSQL could be started');
  const [STOA_TEST_POSTGRES, STOA_TEST_POSTGRES_BIN] = lines;
  return { env: { STOA_TEST_POSTGRES, STOA_TEST_POSTGRES_BIN }, stop: () => child.stdin.end() };
}

/**
 * @param {Program} program
 * @param {Record<string, string>} more what the program's environment has besides ours
 * @returns {Promise<Result>}
 */
function run(program, more) {
  const started = Date.now();
  // Where cargo starts it, and what cargo tells it at run time.
  const threads = String(program.name === LONGEST ? 2 * THREADS : THREADS);
  const env = { RUST_TEST_THREADS: threads, ...process.env, ...more, CARGO_MANIFEST_DIR: program.folder };
  const child = spawn(program.path, [], { cwd: program.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const collect = (/** @type {Buffer} */ chunk) => void (output += chunk);
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  return new Promise((done) => {
    child.once('error', (error) => collect(Buffer.from(String(error))));
    child.once('close', (code) => {
      const passed = Number(/^test result: ok\. (\d+) passed/m.exec(output)?.[1] ?? 0);
      const failed = code !== 0 || !/^test result: ok\./m.test(output);
      done({ program, passed, failed, seconds: (Date.now() - started) / 1000, output });
    });
  });
}

/** @param {Result} result */
function tell({ program, passed, failed, seconds, output }) {
  console.log(
    `${failed ? 'not ok' : 'ok    '}  ${program.name.padEnd(28)} ${passed} passed in ${seconds.toFixed(1)} s`,
  );
  const lines = failed ? output.split('\n') : remarks(output);
  for (const line of lines) console.log(`        ${line}`);
}

async function main() {
  const waiting = programs(await text(process.stdin));
  if (waiting.length === 0) throw new Error('cargo built no test program');
  /** @type {Result[]} */
  const results = [];
  const lane = async (/** @type {boolean} */ isFirst) => {
    const cluster = isFirst ? undefined : await startCluster();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const result = await run(next, cluster?.env ?? {});
      results.push(result);
      tell(result);
    }
    cluster?.stop();
  };
  const lanes = Math.min(AT_ONCE, waiting.length);
  await Promise.all(Array.from({ length: lanes }, (_, n) => lane(n === 0)));
  const failed = results.filter((it) => it.failed);
  const passed = results.reduce((sum, it) => sum + it.passed, 0);
  console.log(`${passed} tests of ${results.length} programs passed`);
  for (const { program, output } of failed) {
    console.log(`failed: ${program.name} (${program.path})`);
    for (const line of failures(output)) console.log(`        ${line}`);
  }
  process.exitCode = failed.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
