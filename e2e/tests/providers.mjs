// Sign-in through an OpenID Connect provider, which is a package of others on this machine: a member comes by it, an account of
// the same address is connected by its password, and what goes wrong at the provider leaves a way back.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Provider from 'oidc-provider';
import { startIdentityProvider } from '../../conformance/lib/identity-provider.mjs';
import { text } from '../../conformance/lib/parse.mjs';
import { codeTo, looks } from '../lib/account.mjs';
import { newCredentials, sendCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { IdentityProvider } from '../../conformance/lib/identity-provider.mjs' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

const PHONE = { width: 390, height: 844 };
const CONTINUE = 'Continue with Acme';
const FAILED = 'Sign-in with Acme did not work';
/** Answers what a member changes first, until they have shown who they are. */
const PROOF = /\/identity\/v1\/(factors|connections)(\/[^/]+)?$/;

/**
 * Runs `work` with a site whose members may come by a provider.
 * @param {World} world
 * @param {string} name of the site
 * @param {(pages: string, provider: IdentityProvider) => Promise<void>} work `pages`: where its account pages are
 */
async function withProvider({ stoa, url }, name, work) {
  const provider = await startIdentityProvider(Provider);
  try {
    const site = text(await stoa.command('site', 'create', '--name', name), 'siteId');
    const file = join(stoa.data, 'provider-secret');
    writeFileSync(file, provider.clientSecret);
    const { issuer, clientId } = provider;
    const options = ['--issuer', issuer, '--client-id', clientId, '--client-secret-file', file, '--label', 'Acme'];
    const added = await stoa.command('site', 'provider', 'add', 'acme', ...options, '--site', site);
    provider.register([text(added, 'callbackUrl')]);
    await work(`${url}/s/${site}/account`, provider);
  } finally {
    await provider.stop();
  }
}

/** Members of the site may have a second factor. @param {World} world @param {string} pages */
async function allowFactors({ stoa, url }, pages) {
  const site = String(pages.split('/').at(-2));
  const apiKey = text(await stoa.command('key', 'create', '--name', 'Policy', '--site', site), 'apiKey');
  const changed = await fetch(`${url}/v1/sign-on-policies`, {
    method: 'PATCH',
    headers: { authorization: apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ signOnPolicy: { secondFactor: 'OPTIONAL' } }),
  });
  assert.equal(changed.status, 200);
}

/** From the sign-in page to the provider, by the keyboard. @param {Page} page @param {string} pages */
async function goToProvider(page, pages) {
  await page.goto(`${pages}/sign-in`);
  const press = page.getByRole('button', { name: CONTINUE });
  await press.waitFor();
  await tabTo(page, press, 'the way in by the provider');
  await page.keyboard.press('Enter');
  await title(page, 'Acme').waitFor();
}

/** Says at the provider who one is. @param {Page} page @param {string} account */
async function sayWho(page, account) {
  await page.getByLabel('Account').fill(account);
  await page.getByRole('button', { name: 'Sign in at Acme' }).click();
}

/** @param {Page} page */
const signedIn = (page) => title(page, 'You are signed in').waitFor();

/** @type {Test[]} */
export const tests = [
  {
    name: 'a member comes by an identity provider, and is the same one the next time',
    run: (world) =>
      withProvider(world, 'By others', async (pages, provider) => {
        const { browser } = world;
        const { email } = newCredentials();
        provider.tells('mara-1', { email, isVerified: true, firstName: 'Mara' });
        await browser.visit(PHONE, async (page) => {
          await page.goto(`${pages}/sign-up`);
          await page.getByRole('button', { name: CONTINUE }).waitFor();
          await looks(page, world, 'provider-sign-up-390');
          await page.goto(`${pages}/sign-in`);
          await page.getByRole('button', { name: CONTINUE }).waitFor();
          await looks(page, world, 'provider-sign-in-390');
          await goToProvider(page, pages);
          // The browser's way back leads to the same page, from which the provider can be asked again.
          await page.goBack();
          await page.getByRole('button', { name: CONTINUE }).click();
          await title(page, 'Acme').waitFor();
          await sayWho(page, 'mara-1');
          await signedIn(page);
          await page.goto(`${pages}/password`);
          const part = page.getByRole('region', { name: 'Sign-in with other accounts' });
          await part.getByText('Acme', { exact: true }).waitFor();
          await page.getByText('You have no password yet.').waitFor();
          await looks(page, world, 'provider-account-390');
        });
        await browser.visit({}, async (page) => {
          await goToProvider(page, pages);
          await sayWho(page, 'mara-1');
          await signedIn(page);
          await page.goto(`${pages}/profile`);
          await page.getByText(email).first().waitFor();
          // Who is signed in there comes through without a question.
          await page.context().clearCookies({ name: /^(?!_session)/ });
          await page.goto(`${pages}/sign-in`);
          await page.getByRole('button', { name: CONTINUE }).click();
          await signedIn(page);
        });
      }),
  },
  {
    name: 'an account is connected by its password, which becomes a second step, and is disconnected',
    run: (world) =>
      withProvider(world, 'Connected', async (pages, provider) => {
        const { browser } = world;
        const credentials = newCredentials();
        const { email, password } = credentials;
        provider.tells('lena-1', { email, isVerified: true });
        await allowFactors(world, pages);
        await browser.visit(PHONE, async (page) => {
          await page.goto(`${pages}/sign-up`);
          await sendCredentials(page, credentials, 'Create account');
          await signedIn(page);
        });
        await browser.visit({ ...PHONE, mayFail: PROOF }, async (page) => {
          await goToProvider(page, pages);
          await sayWho(page, 'lena-1');
          await title(page, 'Connect Acme to your account').waitFor();
          await page.getByText(email).first().waitFor();
          const field = page.getByLabel('Password', { exact: true });
          await looks(page, world, 'provider-connect-390');
          await field.fill('not this one');
          await page.keyboard.press('Enter');
          await page.getByText('This is not your password.').waitFor();
          await looks(page, world, 'provider-connect-wrong-390');
          await field.fill(password);
          await page.keyboard.press('Enter');
          await signedIn(page);

          await page.goto(`${pages}/password`);
          await page.getByRole('button', { name: 'Confirm this address' }).click();
          await page.getByLabel('6-digit code').pressSequentially(await codeTo(world.stoa.data, email));
          await page.keyboard.press('Enter');
          await page.getByRole('button', { name: 'Ask for my password too' }).click();
          await prove(page, password);
          await page.getByText('You will be asked for your password').waitFor();
          await looks(page, world, 'provider-factor-390');
        });
        // After the provider the password is the second step; after the password it is none.
        await browser.visit(PHONE, async (page) => {
          await goToProvider(page, pages);
          await sayWho(page, 'lena-1');
          await title(page, 'Confirm that it is you').waitFor();
          await looks(page, world, 'provider-password-390');
          await page.getByLabel('Password', { exact: true }).fill('not this one');
          await page.keyboard.press('Enter');
          await page.getByText('This is not your password.').waitFor();
          await page.getByLabel('Password', { exact: true }).fill(password);
          await page.keyboard.press('Enter');
          await signedIn(page);
        });
        await browser.visit({ mayFail: PROOF }, async (page) => {
          await page.goto(`${pages}/sign-in`);
          await sendCredentials(page, credentials, 'Sign in');
          await signedIn(page);
          await page.goto(`${pages}/password`);
          const part = page.getByRole('region', { name: 'Sign-in with other accounts' });
          const press = part.getByRole('button', { name: 'Disconnect Acme?' });
          await press.waitFor();
          await tabTo(page, press, 'the end of a connection');
          await page.keyboard.press('Enter');
          await looks(page, world, 'provider-disconnect-1280');
          await part.getByRole('button', { name: 'Disconnect', exact: true }).click();
          await prove(page, password);
          await part.getByText('Disconnected.').waitFor();
          await page.reload();
          await page.getByRole('heading', { name: 'Second step' }).waitFor();
          assert.equal(await part.count(), 0, 'the connection is gone');
        });
        await browser.visit({}, async (page) => {
          await goToProvider(page, pages);
          await sayWho(page, 'lena-1');
          await title(page, 'Connect Acme to your account').waitFor();
        });
      }),
  },
  {
    name: 'the password is asked for in the place of a code to the mailbox that opens the account at the provider',
    run: (world) =>
      withProvider(world, 'One mailbox', async (pages, provider) => {
        const { browser, stoa } = world;
        const credentials = newCredentials();
        const { email, password } = credentials;
        provider.tells('ines-1', { email, isVerified: true });
        await allowFactors(world, pages);
        await browser.visit({ mayFail: PROOF }, async (page) => {
          await page.goto(`${pages}/sign-up`);
          await sendCredentials(page, credentials, 'Create account');
          await signedIn(page);
          await page.goto(`${pages}/password`);
          await page.getByRole('button', { name: 'Confirm this address' }).click();
          await page.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, email));
          await page.keyboard.press('Enter');
          await page.getByRole('button', { name: 'Use codes by email' }).click();
          await prove(page, password);
          await page.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, email, 2));
          await page.keyboard.press('Enter');
          await page.getByText('Recovery codes').first().waitFor();
        });
        await browser.visit(PHONE, async (page) => {
          await goToProvider(page, pages);
          await sayWho(page, 'ines-1');
          await title(page, 'Connect Acme to your account').waitFor();
          await page.getByLabel('Password', { exact: true }).fill(password);
          await page.keyboard.press('Enter');
          // The password was shown, so the code is something more.
          await title(page, 'Confirm that it is you').waitFor();
          await page.getByRole('button', { name: 'Send a code' }).click();
          await page.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, email, 3));
          await page.keyboard.press('Enter');
          await signedIn(page);
        });
        await browser.visit(PHONE, async (page) => {
          await goToProvider(page, pages);
          await sayWho(page, 'ines-1');
          await title(page, 'Confirm that it is you').waitFor();
          await page.getByRole('button', { name: 'Use a recovery code' }).waitFor();
          assert.equal(await page.getByText(/code by email|to your email/).count(), 0, 'no code goes to the mailbox');
          await looks(page, world, 'provider-password-for-email-390');
          await page.getByLabel('Password', { exact: true }).fill(password);
          await page.keyboard.press('Enter');
          await signedIn(page);
        });
      }),
  },
  {
    name: 'what goes wrong at a provider leaves a way back',
    run: (world) =>
      withProvider(world, 'Without luck', async (pages, provider) => {
        const { browser } = world;
        provider.tells('noor-1', {});
        await browser.visit(PHONE, async (page) => {
          await goToProvider(page, pages);
          await page.getByRole('button', { name: 'Cancel' }).click();
          await title(page, FAILED).waitFor();
          await page.getByText('or you cancelled it there').waitFor();
          await looks(page, world, 'provider-declined-390');
          const back = page.getByRole('button', { name: 'Back to sign-in' });
          await tabTo(page, back, 'the way back');
          await page.keyboard.press('Enter');
          await page.getByLabel('Email', { exact: true }).waitFor();
          await page.getByRole('button', { name: CONTINUE }).click();
          await title(page, 'Acme').waitFor();
          await sayWho(page, 'noor-1');
          await title(page, FAILED).waitFor();
          await page.getByText('gave no verified email address').waitFor();
        });
        await browser.visit({ dark: true }, async (page) => {
          await goToProvider(page, pages);
          provider.breaks(/^\/token/);
          await sayWho(page, 'noor-1');
          await title(page, FAILED).waitFor();
          await page.getByText('does not answer at the moment').waitFor();
          await page.getByLabel('Language').selectOption('ar');
          await page.waitForFunction(() => document.documentElement.dir === 'rtl');
          await looks(page, world, 'provider-unavailable-ar-1280');
          provider.breaks(null);
        });
        await browser.visit(PHONE, async (page) => {
          await page.goto(`${pages}/sign-in?lang=ar`);
          await page.getByRole('button', { name: /Acme/ }).waitFor();
          await looks(page, world, 'provider-sign-in-ar-390');
        });
      }),
  },
];

/** Shows once more who one is, by the password. @param {Page} page @param {string} password */
async function prove(page, password) {
  const field = page.getByLabel('Password', { exact: true });
  await field.waitFor();
  await field.fill(password);
  await page.keyboard.press('Enter');
}
