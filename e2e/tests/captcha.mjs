// The widget of a captcha provider on the account pages, seen and unseen, and sites on the same host that have none.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from '../../conformance/lib/parse.mjs';
import { looks } from '../lib/account.mjs';
import { checkAccessibility } from '../lib/axe.mjs';
import { startProvider } from '../lib/captcha.mjs';
import { checkWidth, newCredentials, sendCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Provider } from '../lib/captcha.mjs' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

const SECRET = 'a-secret-of-the-provider';

/**
 * Runs `work` with a site that asks for a captcha of a provider on this machine, and another beside it.
 * @param {World} world
 * @param {string} name of the site
 * @param {string} key `--visible-key` or `--invisible-key`
 * @param {(site: string, beside: string, provider: Provider) => Promise<void>} work
 */
async function withProvider({ stoa, url }, name, key, work) {
  const provider = await startProvider(SECRET);
  try {
    const site = text(await stoa.command('site', 'create', '--name', name), 'siteId');
    const beside = text(await stoa.command('site', 'create', '--name', `Beside ${name}`), 'siteId');
    const file = join(stoa.data, 'captcha-secret');
    writeFileSync(file, SECRET);
    const addresses = ['--verify-url', `${provider.url}/siteverify`, '--script-url', `${provider.url}/api.js`];
    const options = [...addresses, key, 'a-key', '--secret-file', file, '--site', site];
    assert.equal(text(await stoa.command('site', 'captcha', 'set', ...options), 'widget'), 'OTHER');
    const apiKey = text(await stoa.command('key', 'create', '--name', 'Policy', '--site', site), 'apiKey');
    const changed = await fetch(`${url}/v1/sign-on-policies`, {
      method: 'PATCH',
      headers: { authorization: apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ signOnPolicy: { requireCaptcha: true } }),
    });
    assert.equal(changed.status, 200);
    await work(site, beside, provider);
  } finally {
    await provider.stop();
  }
}

/** @param {Page} page */
const check = (page) => page.frameLocator('.widget iframe').getByRole('checkbox', { name: 'I am a person' });

/** @param {string} address */
async function policyOf(address) {
  const page = await fetch(address, { headers: { accept: 'text/html' } });
  return page.headers.get('content-security-policy') ?? '';
}

/** @type {Test[]} */
export const tests = [
  {
    name: 'a member registers and signs in with the widget of a provider',
    run: (world) =>
      withProvider(world, 'Guarded', '--visible-key', async (site, beside, provider) => {
        const { browser, url } = world;
        const credentials = newCredentials();
        await browser.visit({ width: 390, height: 844 }, async (page) => {
          await page.goto(`${url}/s/${site}/account/sign-up`);
          await page.getByLabel('Password', { exact: true }).waitFor();
          assert.equal(provider.asked.length, 0, 'nothing is told before the form is sent');
          await sendCredentials(page, credentials, 'Create account');
          await check(page).waitFor();
          await page.waitForFunction(() => document.activeElement?.classList.contains('widget'));
          // In the one scheme: in another the widget is drawn anew, and has no focus.
          await checkAccessibility(page, 'the form with a widget');
          await checkWidth(page, 'the form with a widget');
          // By keyboard alone.
          await page.keyboard.press('Tab');
          await page.keyboard.press('Space');
          await title(page, 'You are signed in').waitFor();
          assert.ok(provider.asked.includes('/siteverify'));
        });
        await browser.visit({ dark: true }, async (page) => {
          await page.goto(`${url}/s/${site}/account/sign-in?lang=ar`);
          await page.locator('input[name="email"]').fill(credentials.email);
          await page.locator('input[name="password"]').fill('not this one');
          await page.keyboard.press('Enter');
          await check(page).waitFor();
          await looks(page, world, 'captcha-ar-1280');
          await page.getByLabel('اللغة').selectOption('en');
          await title(page, 'Sign in to Guarded').waitFor();
          await looks(page, world, 'captcha-1280');
          await page.setViewportSize({ width: 390, height: 844 });
          await looks(page, world, 'captcha-390');
          await check(page).check();
          await page.getByText('The email or password does not match.').waitFor();
          assert.equal(await page.locator('.widget').count(), 0, 'one answer is for one try');
          await page.getByLabel('Password', { exact: true }).fill(credentials.password);
          await page.keyboard.press('Enter');
          await check(page).check();
          await title(page, 'You are signed in').waitFor();
          // What is not for signing in loads nothing of it.
          const own = await page.goto(`${url}/s/${site}/account/profile`);
          assert.ok(!own?.headers()['content-security-policy']?.includes(provider.url));
        });
        // Of two sites on one host, each page has its own site's provider.
        assert.ok((await policyOf(`${url}/s/${site}/account/sign-in`)).includes(`script-src 'self' ${provider.url};`));
        for (const address of [
          `s/${beside}/account/sign-in`,
          `s/${site}/account/owner`,
          `s/${site}/account/security`,
        ]) {
          assert.ok(!(await policyOf(`${url}/${address}`)).includes(provider.url), address);
        }
      }),
  },
  {
    name: 'a provider that works unseen, and one whose script is blocked',
    run: (world) =>
      withProvider(world, 'Watched', '--invisible-key', async (site) => {
        const { browser, url } = world;
        await browser.visit({ width: 320 }, async (page) => {
          await page.route('**/api.js?*', (route) => route.abort('blockedbyclient'));
          await page.goto(`${url}/s/${site}/account/sign-up`);
          await sendCredentials(page, newCredentials(), 'Create account');
          await page.getByRole('alert').getByText('could not be loaded').waitFor();
          await looks(page, world, 'captcha-blocked-320');
          await page.unroute('**/api.js?*');
          await tabTo(page, page.getByRole('button', { name: 'Try again' }), 'the way on');
          await page.keyboard.press('Enter');
          await title(page, 'You are signed in').waitFor();
        });
      }),
  },
];
