// A real browser on a real `stoa serve --demo`: the website Atlas and the account pages.
//   node run.mjs [--engine sqlite|postgres] [--only TEXT] [--keep]
// STOA_BIN names the program, STOA_TEST_POSTGRES a cluster, CHROMIUM the browser, STOA_SCREENSHOTS a folder.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { messageOf } from '../conformance/lib/parse.mjs';
import { createDatabase } from '../conformance/lib/postgres.mjs';
import { programPath, stoaAt } from '../conformance/lib/stoa.mjs';
import { startTelephones } from '../conformance/lib/telephone.mjs';
import { launchBrowser } from './lib/browser.mjs';
import { runTests } from './lib/run-tests.mjs';
import { waitForSearch } from './lib/search.mjs';
import { tests as stories } from './tests/stories.mjs';
import { tests as account } from './tests/account.mjs';
import { tests as accessOfOthers } from './tests/access-of-others.mjs';
import { tests as captcha } from './tests/captcha.mjs';
import { tests as consent } from './tests/consent.mjs';
import { tests as factors } from './tests/factors.mjs';
import { tests as passkeys } from './tests/passkeys.mjs';
import { tests as providers } from './tests/providers.mjs';
import { tests as push } from './tests/push.mjs';
import { tests as live } from './tests/live.mjs';
import { tests as operatorFactors } from './tests/operator-factors.mjs';
import { tests as sites } from './tests/sites.mjs';
import { tests as access } from './tests/access.mjs';
import { tests as looks } from './tests/looks.mjs';
import { mailLooks, tests as mail } from './tests/mail.mjs';

/** @import { Browser } from './lib/browser.mjs' */

const { values: options } = parseArgs({
  options: { engine: { type: 'string', multiple: true }, only: { type: 'string' }, keep: { type: 'boolean' } },
});
const cluster = process.env.STOA_TEST_POSTGRES;
const engines = options.engine ?? ['sqlite', 'postgres'];
for (const engine of engines) {
  if (!['sqlite', 'postgres'].includes(engine)) stop(`unknown engine ${engine}: sqlite or postgres`);
}
if (engines.includes('postgres') && !cluster) {
  stop('set STOA_TEST_POSTGRES=postgres://user@host/postgres, or ask for --engine sqlite only');
}

let passed = 0;
let failed = 0;
const shots = process.env.STOA_SCREENSHOTS
  ? resolve(process.env.STOA_SCREENSHOTS)
  : mkdtempSync(join(tmpdir(), 'stoa-screenshots-'));
mkdirSync(shots, { recursive: true });
try {
  programPath();
  const browser = await launchBrowser();
  try {
    for (const engine of engines) {
      const counts = await runEngine(engine, browser);
      passed += counts.passed;
      failed += counts.failed;
    }
  } finally {
    await browser.close();
  }
} catch (error) {
  stop(messageOf(error));
}
console.log(`screenshots in ${shots}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

/** @param {string} engine @param {Browser} browser */
async function runEngine(engine, browser) {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-e2e-'));
  const database = engine === 'postgres' && cluster ? await createDatabase(pg.Client, cluster) : undefined;
  const telephones = await startTelephones(join(folder, 'data'));
  let server;
  try {
    const stoa = stoaAt({ data: join(folder, 'data'), databaseUrl: database?.url });
    server = await stoa.serve('--port', '0', '--demo', ...telephones.flags);
    await waitForSearch(server.url);
    const world = { browser, stoa, url: server.url, shots, engine };
    // The look does not depend on the engine: it is checked on the default one. Pictures of every page are for a person,
    // who names a folder. Tests of sites come last: once they have made some, commands ask which is meant.
    const pictures = process.env.STOA_SCREENSHOTS ? looks : [];
    const last = [...sites, ...consent, ...operatorFactors, ...captcha, ...providers];
    const members = [...factors, ...passkeys, ...push, ...account, ...accessOfOthers];
    const all =
      engine === 'sqlite'
        ? [...stories, ...live, ...members, ...mail, ...access, ...pictures, ...mailLooks, ...last]
        : [...stories, ...live, ...members, ...mail, ...last];
    return await runTests(
      all.filter(({ name }) => name.includes(options.only ?? '')),
      world,
      engine,
    );
  } finally {
    const code = await server?.stop();
    if (code) console.error(`stoa serve ended with ${code} on SIGTERM`);
    await telephones.stop();
    await database?.drop();
    if (options.keep) console.error(`kept ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} message @returns {never} */
function stop(message) {
  console.error(message);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
