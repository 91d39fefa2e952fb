// Second factors of those who run a site, by the keyboard: added on their page, shown at sign-in and before an installation and
// another password, required by a site, and taken away by a command.
import assert from 'node:assert/strict';
import { present, text } from '../../conformance/lib/parse.mjs';
import { codeAt, currentStep, stepAfter } from '../../conformance/lib/totp.mjs';
import { looks, openForm } from '../lib/account.mjs';
import { OWNER_PASSWORD, accept, becomeOwner, invite, makeSite } from '../lib/owners.mjs';
import { deviceOf, elsewhere, named, onlyByButton } from '../lib/passkeys.mjs';
import { allowing, sendCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

const QUESTION = 'Confirm that it is you';
const SETUP = 'Protect your account';
const SECURITY = 'Password and sign-ins';
/** Answers what changes of factors first, until a proof is there. */
const PROOF = /\/operator\/(factors|password)$|\/installs\/decide$/;
const ANOTHER_PASSWORD = 'another long phrase';
const PHONE = { width: 390, height: 844 };
/** Where an application is sent that an owner installs. */
const INSTALLED = 'https://feed.example.org/installed';

/** @type {Test[]} */
export const tests = [
  {
    name: 'an owner adds an authenticator and a passkey, signs in by each, and shows one before what matters',
    run: async (world) => {
      const { browser, stoa } = world;
      const site = await makeSite(world, 'Lighthouse');
      const account = `${named(world.url)}/s/${site}/account`;
      const installer = `${named(world.url)}/s/${site}/installer/install?${await application(world, site)}`;
      await browser.visit({ ...PHONE, mayFail: PROOF }, async (page) => {
        const device = await deviceOf(page);
        const email = await becomeOwner(world, page, site);
        const credentials = { email, password: OWNER_PASSWORD };
        // The link of an invitation has the server's own address, at which browsers have no passkeys.
        await page.goto(`${account}/owner`);
        await sendCredentials(page, credentials, 'Sign in');
        await title(page, 'You are signed in').waitFor();
        await page.getByRole('link', { name: SECURITY }).click();
        await title(page, SECURITY).waitFor();
        await page.getByText('Your password alone signs you in.').waitFor();
        await looks(page, world, 'operator-security-390');
        await openForm(page, 'Add an authenticator app');
        await page.keyboard.press('Enter');
        await page.getByText('Before this changes, type your password once more.').waitFor();
        await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'proof');
        await looks(page, world, 'operator-proof-390');
        await page.keyboard.type(OWNER_PASSWORD);
        await page.keyboard.press('Enter');
        const { secret, step } = await setUp(page, world, 'operator-setup-390');
        const recoveryCodes = await keepCodes(page, world, 'operator-codes-390');
        await page.getByText('10 recovery codes are left.').waitFor();

        const form = await openForm(page, 'Add a passkey');
        await tabTo(page, form.getByRole('textbox'), 'the name of a passkey');
        await page.keyboard.type('Laptop');
        await page.keyboard.press('Enter');
        await page.getByText('You will be asked for it after your password.').waitFor();
        await page.getByText('Laptop', { exact: true }).waitFor();
        await looks(page, world, 'operator-factors-390');
        await page.getByLabel('Language').selectOption('ar');
        await title(page, 'كلمة المرور وعمليات الدخول').waitFor();
        await looks(page, world, 'operator-factors-ar-390');
        await page.getByLabel('اللغة').selectOption('en');

        // By the passkey, which is shown once more before an installation.
        await elsewhere(world, await device.passkeys(), { mayFail: PROOF }, async (other) => {
          await onlyByButton(other);
          await other.goto(`${account}/owner`);
          await sendCredentials(other, credentials, 'Sign in');
          await title(other, QUESTION).waitFor();
          const use = other.getByRole('button', { name: 'Use a passkey' });
          await tabTo(other, use, 'the passkey');
          assert.equal(await other.getByRole('checkbox').count(), 0, 'no browser of an owner is remembered');
          await looks(other, world, 'operator-factor-1280');
          await other.keyboard.press('Enter');
          await title(other, 'You are signed in').waitFor();
          await other.route(`${INSTALLED}*`, (route) =>
            route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Feed</title><h1>Installed</h1>' }),
          );
          await other.goto(installer);
          await title(other, 'Install Feed on Lighthouse?').waitFor();
          await tabTo(other, await allowing(other, 'Install'), 'the installation');
          await other.keyboard.press('Enter');
          await other.getByText('Before this changes, confirm with your passkey.').waitFor();
          await other.waitForFunction(() => document.activeElement?.textContent === 'Use a passkey');
          await looks(other, world, 'operator-install-1280');
          await other.keyboard.press('Enter');
          await title(other, 'Installed').waitFor();
          assert.ok(new URL(other.url()).searchParams.get('code'));
        });

        // By a recovery code, and another password after one more.
        await browser.visit({ ...PHONE, dark: true, mayFail: PROOF }, async (other) => {
          await other.goto(`${account}/owner`);
          await sendCredentials(other, credentials, 'Sign in');
          await title(other, QUESTION).waitFor();
          await tabTo(other, other.getByRole('button', { name: 'Use a recovery code' }), 'the way to recovery codes');
          await other.keyboard.press('Enter');
          await other.waitForFunction(() => document.activeElement?.getAttribute('name') === 'code');
          await other.keyboard.type('AAAA-AAAA-AAAA-AAAA');
          await other.keyboard.press('Enter');
          await other.getByText('The code is wrong or has expired.').waitFor();
          await other.waitForFunction(() => document.activeElement?.getAttribute('name') === 'code');
          await other.keyboard.press('ControlOrMeta+A');
          await other.keyboard.type(present(recoveryCodes[0]));
          await other.keyboard.press('Enter');
          await title(other, 'You are signed in').waitFor();
          await other.goto(`${account}/security`);
          await other.getByText('9 recovery codes are left.').waitFor();
          await other.getByLabel('Current password').fill(OWNER_PASSWORD);
          await other.getByLabel('New password').fill(ANOTHER_PASSWORD);
          await other.getByLabel('New password').press('Enter');
          await other.getByRole('button', { name: 'Use a recovery code' }).click();
          await other.getByRole('textbox', { name: 'Recovery code' }).fill(present(recoveryCodes[1]));
          await looks(other, world, 'operator-proof-code-390');
          await other.keyboard.press('Enter');
          await other.getByText('Your password was changed').waitFor();
        });

        // By the authenticator, with the password of now; its code counts once.
        await page.context().clearCookies();
        await page.goto(`${account}/owner`);
        await sendCredentials(page, { email, password: ANOTHER_PASSWORD }, 'Sign in');
        await title(page, QUESTION).waitFor();
        await page.getByRole('button', { name: 'Use the authenticator app' }).click();
        const code = page.getByRole('textbox', { name: '6-digit code' });
        await code.pressSequentially(codeAt(secret, step));
        await page.keyboard.press('Enter');
        await page.getByText('The code is wrong or has expired.').waitFor();
        await code.fill(codeAt(secret, await stepAfter(step)));
        await code.press('Enter');
        await title(page, 'You are signed in').waitFor();

        // Those who run the installation take all of it away from an owner who has lost it.
        const reset = await stoa.command('owner', 'reset-factors', email, '--site', site);
        assert.equal(text(reset, 'email'), email);
        await page.context().clearCookies();
        await page.goto(`${account}/owner`);
        await sendCredentials(page, { email, password: ANOTHER_PASSWORD }, 'Sign in');
        await title(page, 'You are signed in').waitFor();
      });
    },
  },
  {
    name: 'a factor that a site requires of those who run it is put off, and then set up while signing in',
    run: async (world) => {
      const { browser, stoa, url } = world;
      const site = await makeSite(world, 'Pier');
      const required = ['site', 'operator-factors', 'required', '--site', site];
      await browser.visit(PHONE, async (page) => {
        const email = await becomeOwner(world, page, site);
        const signIn = async () => {
          await page.context().clearCookies();
          await page.goto(`${url}/s/${site}/account/owner`);
          await sendCredentials(page, { email, password: OWNER_PASSWORD }, 'Sign in');
        };
        await stoa.command(...required, '--grace', '14d');
        await signIn();
        await title(page, SETUP).waitFor();
        await page.getByText('You can put this off until').waitFor();
        await looks(page, world, 'operator-offer-390');
        await tabTo(page, page.getByRole('button', { name: 'Not now' }), 'putting it off');
        await page.keyboard.press('Enter');
        await title(page, 'You are signed in').waitFor();

        await stoa.command(...required, '--grace', '0d');
        await signIn();
        await title(page, SETUP).waitFor();
        assert.equal(await page.getByRole('button', { name: 'Not now' }).count(), 0);
        await setUp(page, world, 'operator-enrol-390');
        await title(page, 'Keep these recovery codes').waitFor();
        await keepCodes(page, world, 'operator-enrol-codes-390');
        await title(page, 'You are signed in').waitFor();
        await signIn();
        await title(page, QUESTION).waitFor();
      });
      // Who is invited meanwhile sets one up before the first session.
      await browser.visit({}, async (page) => {
        const { setupUrl } = await invite(world, { site, role: 'editor' });
        await accept(page, setupUrl);
        await title(page, SETUP).waitFor();
        await page.getByLabel('Language').selectOption('he');
        await title(page, 'הגנה על החשבון').waitFor();
        await looks(page, world, 'operator-enrol-he-1280');
        await page.getByLabel('שפה').selectOption('en');
        await title(page, SETUP).waitFor();
        await setUp(page, world, 'operator-enrol-1280');
        await keepCodes(page, world, 'operator-enrol-codes-1280');
        await title(page, 'You are signed in').waitFor();
        await page.getByRole('link', { name: SECURITY }).click();
        await page.getByText('10 recovery codes are left.').waitFor();
      });
    },
  },
];

/** Sets up the authenticator that the page shows: its key, and the step of time of the code that was shown. @param {Page} page @param {World} world @param {string} name of the picture */
async function setUp(page, world, name) {
  const key = page.getByRole('group', { name: 'Or type this key into the app:' });
  await key.waitFor();
  await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
  await looks(page, world, name);
  const secret = present(await key.textContent()).replaceAll(' ', '');
  const step = currentStep();
  await page.getByRole('textbox', { name: '6-digit code' }).pressSequentially(codeAt(secret, step));
  await page.keyboard.press('Enter');
  return { secret, step };
}

/** The recovery codes that the page shows, which are kept. @param {Page} page @param {World} world @param {string} name of the picture */
async function keepCodes(page, world, name) {
  const kept = page.getByRole('button', { name: 'I have kept them' });
  await kept.waitFor();
  await looks(page, world, name);
  const codes = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allTextContents();
  assert.equal(codes.length, 10);
  await tabTo(page, kept, 'the way on');
  await page.keyboard.press('Enter');
  return codes;
}

/** The query by which an application of others asks to be installed. @param {World} world @param {string} site */
async function application({ stoa }, site) {
  const of = ['--name', 'Feed', '--redirect-uri', INSTALLED, '--third-party', '--scope', 'items:read', '--secret'];
  const appId = text(await stoa.command('client', 'create', ...of, '--site', site), 'clientId');
  return new URLSearchParams({ appId, redirectUrl: INSTALLED, state: 's' });
}
