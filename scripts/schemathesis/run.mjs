#!/usr/bin/env node
// @ts-check
// Requests drawn from the description by schemathesis, against a real server with a seeded site (decision 28).
//   scripts/schemathesis/run.mjs --program ST [--seconds N] [--seed N]
// Fails when an answer doesn't fit the description or is a server's failure, and when fewer than half of the operations
// answered with success: what only meets refusals tests little.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stoaAt } from '../../conformance/lib/stoa.mjs';
import { succeeded } from './counts.mjs';
import { createSite, seed } from './seed.mjs';

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
];
/** Attempts are limited by address, and all of these come from one. */
const LIMITS = ['ACCOUNT', 'DEVICE', 'ADDRESS', 'REGISTRATION', 'PASSWORD', 'RECOVERY', 'CAPTCHA', 'FLOW'];
/** And those of a whole site. */
const SITE_LIMITS = ['SITE_SIGN_IN', 'SITE_REGISTRATION', 'SITE_RECOVERY', 'SITE_FLOW'];

/** Who asks, and for what, is chosen in hooks.py; what answers tell would bend the schemas until nothing fits them. */
const CONFIGURATION = `
[auth]
auto-signup = false
[phases.fuzzing]
extra-data-sources.responses = false
error-feedback.enabled = false
`;

const here = dirname(fileURLToPath(import.meta.url));
const description = resolve(here, '../../docs/openapi.json');
const { values: options } = parseArgs({
  options: {
    program: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});
if (!options.program) throw new Error('--program names the program st of schemathesis');
const program = resolve(options.program);

for (const it of [...LIMITS, ...SITE_LIMITS]) {
  process.env[`STOA_IDENTITY_${it}_BURST`] = '1000000';
  process.env[`STOA_IDENTITY_${it}_PER_HOUR`] = '10000000';
}
const folder = mkdtempSync(join(tmpdir(), 'stoa-drawn-'));
const stoa = stoaAt({ data: join(folder, 'data') });
/** @type {Awaited<ReturnType<typeof stoa.serve>> | undefined} */
let server;
let failed = 0;
try {
  const site = await createSite(stoa);
  server = await stoa.serve('--port', '0');
  writeFileSync(join(folder, 'seeded.json'), JSON.stringify(await seed(stoa, server.url, site, Number(options.seed))));
  writeFileSync(join(folder, 'schemathesis.toml'), CONFIGURATION);
  // What fits the description first, so that every operation has its turn; then what breaks it as well.
  // The first ends by itself: cut off by time, it may say that nothing could be drawn. The second gets the time that is left.
  const began = Date.now();
  const fitting = ['--phases', 'examples,fuzzing', '--mode', 'positive', '--max-examples', '5'];
  const counts = [await draw(server.url, 'first', fitting)];
  const left = Math.max(15, Number(options.seconds) - Math.round((Date.now() - began) / 1000));
  counts.push(await draw(server.url, 'second', ['--mode', 'all', '--max-time', `${left}`]));
  const { lines, isEnough } = succeeded(JSON.parse(readFileSync(description, 'utf8')), counts);
  for (const it of lines) console.log(it);
  if (!isEnough) failed += 1;
} finally {
  const code = await server?.stop();
  if (code) failed += 1;
  if (code) console.log(`stoa serve ended with ${code} on SIGTERM`);
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;

/**
 * Draws requests, and answers how often each operation answered with which status.
 * @param {string} url
 * @param {string} name
 * @param {string[]} how
 * @returns {Promise<import('./counts.mjs').Counts>}
 */
async function draw(url, name, how) {
  const file = join(folder, `${name}.json`);
  const args = ['run', description, '--url', url, '--checks', CHECKS.join(','), ...how];
  // One worker: drawing from several threads at once fails now and then, in a cache of Hypothesis that they share.
  args.push('--workers', '1', '--seed', `${options.seed}`, '--generation-database', 'none');
  args.push('--suppress-health-check', 'all', '--warnings', 'off', '--request-timeout', '15', '--no-color');
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: join(here, 'hooks.py'),
    STOA_SEEDED: join(folder, 'seeded.json'),
    STOA_COUNTS: file,
  };
  // In the folder where its configuration lies. Not waited for idly: the server's log is read meanwhile.
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const status = await new Promise((done, fail) => child.once('error', fail).once('close', done));
  if (status !== 0) {
    console.log(`schemathesis ended with ${status}; to repeat it: --seed ${options.seed}`);
    failed += 1;
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}
