// Messages as they are rendered, and the page on which an owner answers one.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messagesTo } from '../../conformance/lib/mail.mjs';
import { member, present, text } from '../../conformance/lib/parse.mjs';
import { looks } from '../lib/account.mjs';
import { checkAccessibility } from '../lib/axe.mjs';
import { checkWidth } from '../lib/steps.mjs';

/** @import { Stoa } from '../../conformance/lib/stoa.mjs' */
/** @import { Test } from '../lib/run-tests.mjs' */

/** @typedef {{ token: string, step?: { type: string }, problems?: unknown }} FlowState   a page's answer */

const WIDTHS = [390, 1280];
/** Of these it is checked who can read them: all have one layout, so each message in one language, and one message in each. */
const READ = /^verification\.|\.en\.html$/;
/** Of these a picture is taken. Width, direction and colours are checked of all. */
const PICTURED = /^(verification|recovery|new_device|approval_request|declined)\.(en|de|he|ar|ja)\.html$/;

/** @type {Test[]} */
export const mailLooks = WIDTHS.flatMap((width) =>
  [false, true].map((dark) => ({
    name: `messages at ${width}, ${dark ? 'dark' : 'light'}`,
    run: async ({ browser, stoa, shots }) => {
      const folder = mkdtempSync(join(tmpdir(), 'stoa-mail-'));
      try {
        await stoa.command('mail', 'preview', folder);
        const files = readdirSync(folder)
          .filter((name) => name.endsWith('.html'))
          .sort();
        if (files.length < 70) throw new Error(`ten messages in seven languages, not ${files.length}`);
        await browser.visit({ width, height: 800, dark }, async (page) => {
          for (const file of files) {
            await page.goto(pathToFileURL(join(folder, file)).href);
            await checkWidth(page, file);
            const dir = await page.evaluate(
              () => getComputedStyle(document.querySelector('h1') ?? document.body).direction,
            );
            if (dir !== (/\.(ar|he)\./.test(file) ? 'rtl' : 'ltr')) throw new Error(`${file} is written ${dir}`);
            const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
            if (ground !== (dark ? 'rgb(20, 25, 30)' : 'rgb(250, 247, 241)'))
              throw new Error(`${file} stands on ${ground}`);
            if (READ.test(file)) await checkAccessibility(page, `${file}, ${dark ? 'dark' : 'light'}`);
            if (PICTURED.test(file))
              await page.screenshot({
                path: join(shots, `mail-${file.slice(0, -5)}-${width}-${dark ? 'dark' : 'light'}.png`),
                fullPage: true,
              });
          }
        });
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  })),
);

/** @type {Test[]} */
export const tests = [
  {
    name: 'an owner answers people who ask to join, also one whose name is a long address',
    run: async (world) => {
      const { browser, stoa, url, engine } = world;
      const apiKey = text(await stoa.command('key', 'create', '--name', 'e2e'), 'apiKey');
      const clientId = text(member(await stoa.command('client', 'list'), '0'), 'clientId');
      await createOwner(stoa, url);
      const policy = async (/** @type {boolean} */ flag) =>
        call(url, 'PATCH', '/iam/signon/v1/sign-on-policies', apiKey, { signOnPolicy: { requireOwnerApproval: flag } });
      await policy(true);
      try {
        const long = `${'anna-maria.'.repeat(4)}beispiel-${engine}@${'department.'.repeat(6)}example.org`;
        for (const { firstName, email, decision } of [
          { firstName: 'Yara', email: `yara-${engine}@example.org`, decision: 'Approve' },
          { firstName: 'Nils', email: `nils-${engine}@example.org`, decision: 'Decline' },
          { firstName: undefined, email: long, decision: 'Decline' },
        ]) {
          const name = firstName ?? email;
          const visitor = await call(url, 'POST', '/oauth2/token', '', { clientId, grantType: 'anonymous' });
          const body = { loginId: { email }, password: 'correct horse battery', profile: { firstName } };
          const answer = await call(
            url,
            'POST',
            '/_api/iam/authentication/v2/register',
            text(visitor, 'access_token'),
            body,
          );
          if (member(answer, 'state') !== 'REQUIRE_OWNER_APPROVAL') throw new Error(JSON.stringify(answer));
          const request = present(messagesTo(stoa.data, 'owner@example.org').at(-1), 'the message to the owner');
          const [link] = request.links;
          await browser.visit({ width: 390, height: 844, mayFail: /approvals/ }, async (page) => {
            // The link says the address that the server tells of itself; the browser goes where it really is.
            await page.goto(`${url}/account/approve${new URL(link).hash}`);
            await page.getByRole('heading', { name: `${name} asks to join` }).waitFor();
            const picture = `account-approve-${firstName ?? 'address'}`;
            await looks(page, world, `${picture}-390`);
            await page.setViewportSize({ width: 1280, height: 800 });
            await page.reload();
            await page.getByRole('heading', { name: `${name} asks to join` }).waitFor();
            await looks(page, world, `${picture}-1280`);
            await page.setViewportSize({ width: 390, height: 844 });
            await page.getByRole('button', { name: decision }).click();
            if (decision === 'Decline') {
              await page.getByRole('heading', { name: `Decline ${name}?` }).waitFor();
              await checkWidth(page, 'the question whether to decline');
              await page.getByRole('button', { name: decision }).click();
            }
            await page
              .getByRole('heading', {
                name: decision === 'Approve' ? `${name} can sign in now` : `${name} was declined`,
              })
              .waitFor();
            await checkWidth(page, 'the page of a decision');
            await page.reload();
            await page.getByRole('heading', { name: 'There is nothing left to decide' }).waitFor();
          });
          if (messagesTo(stoa.data, email).length === 0) throw new Error(`${name} was not told`);
        }
      } finally {
        await policy(false);
      }
    },
  },
];

/** @param {Stoa} stoa @param {string} url */
async function createOwner(stoa, url) {
  const invitation = await stoa.command('owner', 'invite', '--email', 'owner@example.org');
  const invite = new URL(text(invitation, 'setupUrl')).searchParams.get('invite');
  const headers = { 'content-type': 'application/json', cookie: '' };
  const started = await fetch(`${url}/_api/account/v1/flows`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ kind: 'OWNER_SETUP', invite }),
  });
  headers.cookie = started.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
  /** @type {FlowState} */
  const { token, step } = await started.json();
  const input = { type: 'NEW_PASSWORD', password: 'correct horse battery' };
  const done = await fetch(`${url}/_api/account/v1/flows/${token}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(input),
  });
  /** @type {FlowState} */
  const { step: after, problems } = await done.json();
  if (after?.type !== 'DONE')
    throw new Error(`${JSON.stringify(step)} → ${JSON.stringify(after)} ${JSON.stringify(problems)}`);
}

/** @param {string} url @param {string} method @param {string} path @param {string} token @param {object} body @returns {Promise<unknown>} */
async function call(url, method, path, token, body) {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: token } : {}) };
  const reply = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
}
