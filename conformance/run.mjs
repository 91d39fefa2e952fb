// The public client packages, unmodified, against a real `stoa serve`: prints one row a client method.
//   node run.mjs [--engine sqlite|postgres] [--only TEXT] [--json FILE] [--keep]
// STOA_BIN names the program, STOA_TEST_POSTGRES a cluster, CHROMIUM the browser.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Provider from 'oidc-provider';
import pg from 'pg';
import { createCertificates } from './lib/certificates.mjs';
import { startIdentityProvider } from './lib/identity-provider.mjs';
import { member, messageOf, text } from './lib/parse.mjs';
import { wrongPromises } from './lib/promises.mjs';
import { createDatabase } from './lib/postgres.mjs';
import { report } from './lib/report.mjs';
import { bundlePage, serveSite } from './lib/site-server.mjs';
import { programPath, stoaAt } from './lib/stoa.mjs';
import { startTelephones } from './lib/telephone.mjs';

/** @import { Outcome, Run } from './lib/types.js' */

const OWNER_EMAIL = 'owner@example.com';

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', multiple: true },
    only: { type: 'string' },
    json: { type: 'string' },
    keep: { type: 'boolean' },
  },
});

const engines = options.engine ?? ['sqlite', 'postgres'];
const cluster = process.env.STOA_TEST_POSTGRES;
for (const engine of engines) {
  if (!['sqlite', 'postgres'].includes(engine)) stop(`unknown engine ${engine}: sqlite or postgres`);
}
if (engines.includes('postgres') && !cluster) {
  stop('set STOA_TEST_POSTGRES=postgres://user@host/postgres, or ask for --engine sqlite only');
}

/** @type {Map<string, Outcome['results']>} */
const byEngine = new Map();
/** @type {string[]} */
let missing = [];
try {
  programPath();
  const script = await bundlePage();
  for (const engine of engines) {
    const outcome = await runEngine(engine, script);
    byEngine.set(engine, outcome.results);
    missing = outcome.missing;
  }
} catch (error) {
  stop(messageOf(error));
}

const { table, passed, failed } = report(byEngine);
console.log(table);
for (const name of missing) console.log(`no row for the published method ${name}`);
const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
// With some of the rows only, a method may seem not to be there at all.
const wrong = options.only
  ? []
  : [...byEngine.values()].slice(0, 1).flatMap((results) => wrongPromises(readme, results));
for (const text of wrong) console.log(text);
if (options.json) writeFileSync(options.json, `${JSON.stringify(Object.fromEntries(byEngine), null, 2)}\n`);
console.log(`${passed} passed, ${failed + missing.length + wrong.length} failed`);
process.exitCode = failed + missing.length + wrong.length > 0 ? 1 : 0;

/**
 * @param {string} engine
 * @param {string} script the page's bundle
 */
async function runEngine(engine, script) {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-conformance-'));
  const certificates = createCertificates(folder);
  const site = await serveSite(certificates, script);
  const database = engine === 'postgres' && cluster ? await createDatabase(pg.Client, cluster) : undefined;
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const stoa = stoaAt({ data: dataDir, databaseUrl: database?.url });
  const telephones = await startTelephones(dataDir);
  const provider = await startIdentityProvider(Provider);
  let server;
  try {
    const origin = `https://atlas.test:${site.port}`;
    const redirectUri = `${origin}/callback`;
    const siteId = text(await stoa.command('site', 'create', '--name', 'Conformance'), 'siteId');
    const where = ['--redirect-uri', redirectUri, '--origin', origin];
    const client = await stoa.command('client', 'create', '--name', 'Website', ...where);
    const secretClient = await stoa.command('client', 'create', '--name', 'Application', ...where, '--secret');
    const apiKey = text(await stoa.command('key', 'create', '--name', 'Conformance'), 'apiKey');
    server = await stoa.serve(
      '--port',
      '0',
      '--tls-cert',
      certificates.cert,
      '--tls-key',
      certificates.key,
      // Links must carry a name that both Node and the browser of the run can reach.
      '--public-url',
      'https://www.wixapis.com',
      // Receivers of webhooks are in the process of the rows.
      '--reach-allow',
      '127.0.0.1/32',
      ...telephones.flags,
    );
    // Asked of the running server, so that the link carries its public address.
    const invitation = await stoa.command('owner', 'invite', '--email', OWNER_EMAIL);
    const { issuer, clientId, clientSecret } = provider;
    const secretFile = join(folder, 'provider-secret');
    writeFileSync(secretFile, clientSecret);
    const about = ['--issuer', issuer, '--client-id', clientId, '--client-secret-file', secretFile, '--label', 'Acme'];
    const added = await stoa.command('site', 'provider', 'add', 'acme', ...about);
    provider.register([text(added, 'callbackUrl'), redirectUri]);
    return await runChild(
      folder,
      {
        engine,
        siteId,
        clientId: text(client, 'clientId'),
        apiKey,
        origin,
        redirectUri,
        dataDir,
        databaseUrl: database?.url,
        secretClientId: text(secretClient, 'clientId'),
        clientSecret: text(secretClient, 'clientSecret'),
        provider: { issuer, clientId, clientSecret, connectionId: text(member(added, 'idpConnection'), 'id') },
        ownerEmail: OWNER_EMAIL,
        ownerSetupUrl: text(invitation, 'setupUrl'),
        apiPort: server.port,
        spki: certificates.spki,
        only: options.only,
      },
      certificates.ca,
    );
  } finally {
    const code = await server?.stop();
    if (code) console.error(`stoa serve ended with ${code} on SIGTERM`);
    await telephones.stop();
    await provider.stop();
    await site.stop();
    await database?.drop();
    if (options.keep) console.error(`kept ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {Run} run
 * @param {string} ca
 * @returns {Promise<Outcome>}
 */
async function runChild(folder, run, ca) {
  const taskFile = join(folder, 'task.json');
  const results = join(folder, 'results.json');
  writeFileSync(taskFile, JSON.stringify({ run, results }));
  const here = import.meta.dirname;
  const child = spawn(process.execPath, ['--require', join(here, 'hosts-preload.cjs'), join(here, 'client.mjs')], {
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: ca,
      CONFORMANCE_TLS_PORT: String(run.apiPort),
      CONFORMANCE_TASK: taskFile,
    },
  });
  const code = await new Promise((done) => child.once('exit', done));
  if (code !== 0 || !existsSync(results)) throw new Error(`the client process ended with ${code} and no results`);
  return JSON.parse(readFileSync(results, 'utf8'));
}

/** @param {string} message @returns {never} */
function stop(message) {
  console.error(message);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
