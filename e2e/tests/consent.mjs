// A member is asked whether an application of others may act for them, by the keyboard; declines, agrees and takes it back.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { text } from '../../conformance/lib/parse.mjs';
import { looks } from '../lib/account.mjs';
import { allowing, newCredentials, openSignUp, sendCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

/** That of RFC 7636, appendix B. */
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const PHONE = { width: 390, height: 844 };

/** @type {Test[]} */
export const tests = [
  {
    name: 'a member declines an application of others, agrees to it, and takes that back',
    run: async (world) => {
      const { browser, url } = world;
      const ledger = await startLedger();
      const { site, authorize } = await registerLedger(world, ledger.callback);
      const question = 'Let Ledger act for you at Harbour office?';
      const visited = browser.visit(PHONE, async (page) => {
        const credentials = newCredentials();
        await page.goto(authorize('items:read'));
        await openSignUp(page);
        await sendCredentials(page, credentials, 'Create account');
        await title(page, question).waitFor();
        await page.waitForFunction((name) => document.activeElement?.textContent === name, question);
        await page.getByText(`You are signed in as ${credentials.email}. It goes on at 127.0.0.1.`).waitFor();
        assert.deepEqual(await rights(page), ['Read the items of all collections']);
        await looks(page, world, 'consent-390');
        for (const tag of ['ar', 'he']) {
          await page.locator('footer select').selectOption(tag);
          await page.waitForFunction(() => document.documentElement.dir === 'rtl');
          await looks(page, world, `consent-${tag}-390`);
        }
        await page.locator('footer select').selectOption('en');
        await title(page, question).waitFor();

        await tabTo(page, page.getByRole('button', { name: 'Decline' }), 'the button that declines');
        await page.keyboard.press('Enter');
        const declined = await cameBack(page, ledger.callback);
        assert.deepEqual([declined.get('error'), declined.get('state')], ['access_denied', 's1']);
        assert.ok(declined.get('iss')?.endsWith(`/s/${site}`), String(declined));

        // What was declined is asked again, and no page of others can have it clicked.
        const opened = await page.goto(authorize('items:read'));
        await title(page, question).waitFor();
        assert.match(opened?.headers()['content-security-policy'] ?? '', /frame-ancestors 'none'/);
        const silent = await goesOn(page, ledger.callback, authorize('items:read', 'none'));
        assert.equal(silent.get('error'), 'consent_required');

        await page.goto(authorize('items:read'));
        await title(page, question).waitFor();
        await tabTo(page, await allowing(page, 'Allow'), 'the button that allows');
        await page.keyboard.press('Enter');
        assert.ok((await cameBack(page, ledger.callback)).get('code'));
        // It is not asked about again, but for more.
        assert.ok((await goesOn(page, ledger.callback, authorize('items:read'))).get('code'));
        await page.goto(authorize('items:read members:read'));
        await title(page, question).waitFor();
        assert.equal((await rights(page)).length, 2);
        await (await allowing(page, 'Allow')).click();
        await cameBack(page, ledger.callback);

        await page.goto(`${url}/s/${site}/account/sessions`);
        const part = page.getByRole('region', { name: 'Applications of others' });
        await part.getByText('Read the profiles and addresses of all members').waitFor();
        await looks(page, world, 'consent-given-390');
        await part.getByRole('button', { name: 'Sign off Ledger?' }).click();
        await part.getByRole('button', { name: 'Sign off', exact: true }).click();
        await part.getByText('Signed off.').waitFor();
        await page.goto(authorize('items:read'));
        await title(page, question).waitFor();
      });
      await visited.finally(() => ledger.server.close());
    },
  },
];

/** The application: a page at each of its addresses. */
async function startLedger() {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Ledger</title><h1>Ledger</h1>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { server, callback: `http://127.0.0.1:${address.port}/callback` };
}

/** A site with the application, which has a secret: no other program on this machine passes for it. @param {World} world @param {string} callback */
async function registerLedger({ stoa, url }, callback) {
  const site = text(await stoa.command('site', 'create', '--name', 'Harbour office'), 'siteId');
  const scopes = ['--scope', 'items:read', '--scope', 'members:read'];
  const of = ['--name', 'Ledger', '--redirect-uri', callback, '--secret', '--third-party', ...scopes, '--site', site];
  const client = text(await stoa.command('client', 'create', ...of), 'clientId');
  /** @param {string} scope @param {string} [prompt] */
  const authorize = (scope, prompt) => {
    const asked = new URLSearchParams({
      client_id: client,
      redirect_uri: callback,
      response_type: 'code',
      state: 's1',
      scope,
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...(prompt === undefined ? {} : { prompt }),
    });
    return `${url}/oauth2/authorize?${asked}`;
  };
  return { site, authorize };
}

/** What the application would be let do. @param {Page} page */
const rights = (page) => page.locator('main').getByRole('listitem').allTextContents();

/** What the application is told. @param {Page} page @param {string} callback */
async function cameBack(page, callback) {
  await page.waitForURL((it) => it.href.startsWith(callback));
  return new URL(page.url()).searchParams;
}

/** The same of an address that asks nothing. @param {Page} page @param {string} callback @param {string} address */
async function goesOn(page, callback, address) {
  await page.goto(address);
  return cameBack(page, callback);
}
