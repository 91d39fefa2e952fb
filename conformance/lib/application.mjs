// An application of the site by itself, whose keys are managed by commands.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from './parse.mjs';
import { stoaAt } from './stoa.mjs';

/** @import { World } from './world.mjs' */

/** @typedef {Awaited<ReturnType<typeof createApplication>>} Application */

/**
 * @param {World} world
 * @param {string[]} more of `stoa client create`
 */
export async function createApplication(world, ...more) {
  const stoa = stoaAt({ data: world.run.dataDir });
  const name = `Receiver ${world.id()}`;
  const client = await stoa.command('client', 'create', '--name', name, '--secret', ...more);
  const id = text(client, 'clientId');
  return {
    id,
    secret: text(client, 'clientSecret'),
    /** @param {string[]} args */
    key: (...args) => stoa.command('app', 'key', ...args, '--app', id),
    /** @param {object} claims @param {string[]} args */
    sign: (claims, ...args) =>
      withFile(JSON.stringify(claims), async (file) =>
        text(await stoa.command('app', 'key', 'sign', '--claims', file, '--app', id, ...args), 'token'),
      ),
    revoke: () => stoa.command('client', 'revoke', id),
  };
}

/**
 * The public half of the next key of an application: made by the server, or taken from a file.
 * @param {Application} app
 * @param {boolean} isImported
 */
export async function nextKey(app, isImported) {
  if (!isImported) return text(await app.key('rotate'), 'publicKey');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  return withFile(pem, async (file) => text(await app.key('import', file), 'publicKey'));
}

/**
 * Runs `work` with a file of this content.
 * @template T
 * @param {string} content
 * @param {(file: string) => Promise<T>} work
 */
async function withFile(content, work) {
  const folder = mkdtempSync(join(tmpdir(), 'stoa-application-'));
  try {
    const file = join(folder, 'content');
    writeFileSync(file, content);
    return await work(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
