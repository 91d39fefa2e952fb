// What others do with a member's account, as My account shows it: an owner who acts as the member, and an application of others
// in which the member is signed on; and the member ends both.
import { createHash, randomBytes } from 'node:crypto';
import { member, text } from '../../conformance/lib/parse.mjs';
import { looks } from '../lib/account.mjs';
import { becomeOwner } from '../lib/owners.mjs';
import { allowing, newCredentials, sendCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Test } from '../lib/run-tests.mjs' */

const RETURNS_TO = 'https://partner.example.org/callback';
const BANNER = /^An owner of this site has opened your account\. They see what you see and can change your content/;

/** @type {Test[]} */
export const tests = [
  {
    name: 'a member sees an owner who acts as the member and an application of others, and ends both',
    run: async (world) => {
      const { browser, stoa, url } = world;
      const clientId = text(member(await stoa.command('client', 'list'), '0'), 'clientId');
      const owner = await browser.visit({}, (page) => becomeOwner(world, page));
      const partner = await stoa.command(
        ...['client', 'create', '--name', 'Partner', '--redirect-uri', RETURNS_TO],
        ...['--third-party', '--scope', 'items:read', 'members:read', '--secret'],
      );
      const credentials = newCredentials();
      try {
        await stoa.command('site', 'impersonation', 'write');
        await browser.visit({ width: 390, height: 844 }, async (page) => {
          await page.goto(`${url}/account/sign-up?clientId=${clientId}`);
          await sendCredentials(page, credentials, 'Create account');
          await title(page, 'You are signed in').waitFor();
          await signOn(page, url, partner);
          const as = ['--owner', owner, '--reason', 'Ticket 4711', '--write'];
          await stoa.command('member', 'impersonate', credentials.email, ...as);

          await page.goto(`${url}/account/sessions`);
          await title(page, 'Where you are signed in').waitFor();
          await page.getByText(BANNER).waitFor();
          await page.getByText('An owner of this site, as you', { exact: true }).waitFor();
          await page.getByText('Partner', { exact: true }).waitFor();
          await page.getByText('Read the items of all collections').waitFor();
          await looks(page, world, 'account-others-390');
          await page.getByLabel('Language').selectOption('ar');
          await page.getByRole('heading', { level: 1, name: 'الأماكن التي سجّلت الدخول فيها' }).waitFor();
          await looks(page, world, 'account-others-ar-390');
          await page.getByLabel('اللغة').selectOption('en');
          await page.setViewportSize({ width: 1280, height: 800 });
          await looks(page, world, 'account-others-1280');

          await tabTo(page, page.getByRole('button', { name: /^End it: / }), 'the end of what the owner does');
          await page.keyboard.press('Enter');
          await page.getByText('Signed out.').waitFor();
          await page.getByText(BANNER).waitFor({ state: 'detached' });

          await tabTo(page, page.getByRole('button', { name: 'Sign off Partner?' }), 'signing off');
          await page.keyboard.press('Enter');
          const question = page.getByRole('group', { name: 'Sign off Partner?' });
          await question.waitFor();
          await looks(page, world, 'account-sign-off-1280');
          await question.getByRole('button', { name: 'Sign off', exact: true }).focus();
          await page.keyboard.press('Enter');
          await page.getByText('Signed off.').waitFor();
          await page.getByText('You are signed on in no application of others.').waitFor();
          await looks(page, world, 'account-no-others-1280');
        });
      } finally {
        await stoa.command('site', 'impersonation', 'off');
        await stoa.command('client', 'revoke', text(partner, 'clientId'));
      }
    },
  },
];

/**
 * Signs the member of a page on in an application, as the standard says: they allow it, and the application redeems a code.
 * @param {Page} page @param {string} url @param {unknown} application
 */
async function signOn(page, url, application) {
  const [clientId, secret] = [text(application, 'clientId'), text(application, 'clientSecret')];
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    ...{ client_id: clientId, redirect_uri: RETURNS_TO, response_type: 'code', state: 's' },
    ...{ scope: 'items:read members:read', code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  await page.route(`${new URL(RETURNS_TO).origin}/**`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Partner</title><h1>Partner</h1>' }),
  );
  await page.goto(`${url}/oauth2/authorize?${query}`);
  await (await allowing(page, 'Allow')).click();
  await page.waitForURL((it) => it.href.startsWith(RETURNS_TO));
  const code = new URL(page.url()).searchParams.get('code');
  const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: RETURNS_TO };
  const redeemed = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...grant, client_id: clientId, client_secret: secret }),
  });
  if (!redeemed.ok) throw new Error(`no token for the application: ${redeemed.status} ${await redeemed.text()}`);
}
