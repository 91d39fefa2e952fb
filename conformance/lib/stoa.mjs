// Starts and stops the program by its contract for scripts, and runs its commands. Knows nothing of
// what is tested.
import { execFile, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { member, messageOf } from './parse.mjs';

// A first start with the demonstration data imports 135,000 places before it is ready.
const START_LIMIT_MS = 240_000;
const STOP_LIMIT_MS = 15_000;
// Hooks have a tenth of a second; machines of tests are slow now and then.
const LIMITS = { STOA_LIMITS_HOOK_MILLISECONDS: '2000' };

/** The program under test: `STOA_BIN`, or the release build beside this folder. */
export function programPath() {
  const path = process.env.STOA_BIN
    ? resolve(process.env.STOA_BIN)
    : resolve(import.meta.dirname, '../../target/release/stoa');
  if (!existsSync(path)) throw new Error(`no program at ${path}: run "make build", or set STOA_BIN`);
  return path;
}

/** @typedef {ReturnType<typeof stoaAt>} Stoa */

/**
 * One data directory and the commands on it.
 * @param {{ data: string, databaseUrl?: string }} place
 */
export function stoaAt({ data, databaseUrl }) {
  const binary = programPath();
  mkdirSync(data, { recursive: true });
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, ...LIMITS, ...(databaseUrl ? { STOA_DATABASE_URL: databaseUrl } : {}) };
  if (!databaseUrl) delete env.STOA_DATABASE_URL;
  delete env.STOA_DATA;

  /**
   * Runs one command with `--data` and `--json`; gives back what it printed, parsed.
   * @param {string[]} args
   * @returns {Promise<unknown>}
   */
  async function command(...args) {
    const all = [...args, '--data', data, '--json'];
    try {
      const { stdout } = await promisify(execFile)(binary, all, { env, maxBuffer: 64 << 20 });
      const lastLine = stdout.trim().split('\n').at(-1) ?? '';
      return JSON.parse(lastLine);
    } catch (error) {
      const printed = member(error, 'stderr');
      throw new Error(`stoa ${all.join(' ')}: ${messageOf(error)}${printed ? `\n${printed}` : ''}`);
    }
  }

  /**
   * Starts `stoa serve` and waits for its `ready` line.
   * @param {string[]} args
   * @returns {Promise<{ url: string, port: number, log: string, stop(): Promise<number | null> }>}
   */
  async function serve(...args) {
    const log = join(data, '..', 'server.log');
    const all = ['serve', '--data', data, ...(databaseUrl ? ['--database-url', databaseUrl] : []), ...args];
    const child = spawn(binary, all, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr.on('data', (chunk) => appendFileSync(log, chunk));
    /** @type {Promise<number | null>} */
    const exited = new Promise((done) => child.once('exit', (code) => done(code)));
    /** @type {string} */
    const url = await new Promise((done, fail) => {
      let seen = '';
      const timer = setTimeout(
        () => fail(new Error(`no "ready" line within ${START_LIMIT_MS} ms, see ${log}`)),
        START_LIMIT_MS,
      );
      child.stdout.on('data', (chunk) => {
        appendFileSync(log, chunk);
        seen += chunk;
        const line = /^ready (https?:\/\/\S+)$/m.exec(seen);
        if (line) {
          clearTimeout(timer);
          done(line[1]);
        }
      });
      child.once('error', fail);
      child.once('exit', (code) => {
        clearTimeout(timer);
        fail(new Error(`stoa serve ended with ${code} before it was ready, see ${log}`));
      });
    }).catch((error) => {
      child.kill('SIGKILL');
      throw error;
    });
    const stop = async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      const code = await exited;
      clearTimeout(timer);
      return code;
    };
    return { url, port: Number(new URL(url).port), log, stop };
  }

  return { data, command, serve };
}
