// My account: a member changes the profile, adds a factor, ends another session.
import assert from 'node:assert/strict';
import { messagesTo } from '../../conformance/lib/mail.mjs';
import { member, present, text } from '../../conformance/lib/parse.mjs';
import { codeAt, currentStep } from '../../conformance/lib/totp.mjs';
import { codeTo, looks, openForm } from '../lib/account.mjs';
import { newCredentials, sendCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Test } from '../lib/run-tests.mjs' */

/** @type {Test[]} */
export const tests = [
  {
    name: 'a member looks after the account: profile, second factor, sessions',
    run: async (world) => {
      const { browser, stoa, url } = world;
      await stoa.command('site', 'second-factors', 'optional');
      const clientId = text(member(await stoa.command('client', 'list'), '0'), 'clientId');
      const credentials = newCredentials();
      // What changes factors is refused until a proof is there.
      await browser.visit({ width: 390, height: 844, mayFail: /\/identity\/v1\/factors$/ }, async (page) => {
        // A stranger signs up and comes back to the account.
        await page.goto(`${url}/account/sign-up?clientId=${clientId}`);
        await sendCredentials(page, credentials, 'Create account');
        await title(page, 'You are signed in').waitFor();
        await page.getByRole('link', { name: 'My account' }).click();
        await title(page, 'Profile').waitFor();
        const nickname = page.getByLabel('Nickname');
        await tabTo(page, nickname, 'the nickname');
        await page.keyboard.press('ControlOrMeta+A');
        await page.keyboard.type('Mara');
        await page.keyboard.press('Enter');
        await page.getByText('Saved.').waitFor();
        await looks(page, world, 'account-profile-390');

        await page.getByRole('link', { name: 'Sign-in and security' }).click();
        await title(page, 'Sign-in and security').waitFor();
        assert.equal(new URL(page.url()).pathname.endsWith('/account/password'), true);
        await page.getByRole('button', { name: 'Confirm this address' }).click();
        await page.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, credentials.email));
        await page.keyboard.press('Enter');
        await page.getByText('Confirmed', { exact: true }).waitFor();
        await looks(page, world, 'account-password-390');
        await openForm(page, 'Add an authenticator app');
        await looks(page, world, 'account-add-390');
        await page.keyboard.press('Enter');
        await page.getByLabel('Password', { exact: true }).fill(credentials.password);
        await looks(page, world, 'account-proof-390');
        await page.keyboard.press('Enter');
        const key = page.getByRole('group', { name: 'Or type this key into the app:' });
        await key.waitFor();
        await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
        await looks(page, world, 'account-setup-390');
        const secret = present(await key.textContent()).replaceAll(' ', '');
        await page.getByLabel('6-digit code').pressSequentially(codeAt(secret, currentStep()));
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'I have kept them' }).waitFor();
        await looks(page, world, 'account-codes-390');
        await page.getByRole('button', { name: 'I have kept them' }).click();
        await page.getByText('10 recovery codes are left.').waitFor();

        // Codes by email are another way in.
        await page.getByRole('button', { name: 'Use codes by email' }).click();
        await page.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, credentials.email, 2));
        await looks(page, world, 'account-email-factor-390');
        await page.keyboard.press('Enter');
        await page.getByText('You will be asked for a code that we send you.').waitFor();
        await looks(page, world, 'account-factors-390');

        // Another browser signs in, which takes a code now, and is signed out from here.
        // A stranger is one first, and again when the session was ended elsewhere.
        await browser.visit(
          { mayFail: /\/(account\/v1\/member|identity\/v1\/(sessions|applications))$/ },
          async (other) => {
            await other.goto(`${url}/account/`);
            await other.getByLabel('Password', { exact: true }).waitFor();
            await sendCredentials(other, credentials, 'Sign in');
            await title(other, 'Confirm that it is you').waitFor();
            await looks(other, world, 'factor-1280');
            await tabTo(
              other,
              other.getByRole('button', { name: 'Use a code by email' }),
              'the way to a code by email',
            );
            await other.keyboard.press('Enter');
            await other.waitForFunction(() => document.activeElement?.textContent === 'Send a code');
            await other.keyboard.press('Enter');
            await other.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, credentials.email, 3));
            await looks(other, world, 'factor-email-1280');
            await other.getByLabel('6-digit code').press('Enter');
            await title(other, 'Profile').waitFor();
            await other.getByLabel('Nickname').waitFor();
            assert.equal(await other.getByLabel('Nickname').inputValue(), 'Mara');
            await looks(other, world, 'account-profile-1280');
            await page.getByRole('link', { name: 'Where you are signed in' }).click();
            await page.getByRole('button', { name: /^Sign out there/ }).waitFor();
            await looks(page, world, 'account-sessions-390');
            await page.getByRole('button', { name: /^Sign out there/ }).click();
            await page.getByText('Signed out.').waitFor();
            await other.getByRole('link', { name: 'Where you are signed in' }).click();
            await other.getByText('You were signed out').waitFor();
            assert.ok(
              messagesTo(stoa.data, credentials.email).some((it) =>
                it.subject.startsWith('You were signed out elsewhere'),
              ),
            );
          },
        );
        // From right to left as well.
        await page.getByLabel('Language').selectOption('ar');
        await page.getByRole('heading', { level: 1, name: 'الأماكن التي سجّلت الدخول فيها' }).waitFor();
        await looks(page, world, 'account-sessions-ar-390');
      });
    },
  },
  {
    name: 'a member takes a copy of the data, leaves, and keeps the account after all',
    run: async (world) => {
      const { browser, stoa, url } = world;
      const clientId = text(member(await stoa.command('client', 'list'), '0'), 'clientId');
      const credentials = newCredentials();
      // Both ask for a proof at first; who is to go can't sign in.
      await browser.visit({ width: 390, height: 844, mayFail: /\/(export|deletion|flows\/[^/]+)$/ }, async (page) => {
        await page.goto(`${url}/account/sign-up?clientId=${clientId}`);
        await sendCredentials(page, credentials, 'Create account');
        await title(page, 'You are signed in').waitFor();
        await page.getByRole('link', { name: 'My account' }).click();
        await title(page, 'Profile').waitFor();
        await page.getByRole('link', { name: 'Your data' }).click();
        await title(page, 'Your data').waitFor();
        assert.equal(new URL(page.url()).pathname.endsWith('/account/privacy'), true);
        await tabTo(page, page.getByRole('button', { name: 'Download my data' }), 'the copy');
        await looks(page, world, 'account-privacy-390');
        await page.keyboard.press('Enter');
        await page.getByLabel('Password', { exact: true }).fill(credentials.password);
        const download = page.waitForEvent('download');
        await page.keyboard.press('Enter');
        assert.equal((await download).suggestedFilename(), 'my-data.json');
        await page.getByText('The file is saved.').waitFor();

        await page.getByRole('button', { name: 'Delete my account' }).click();
        await page.getByRole('heading', { name: 'Delete your account?' }).waitFor();
        await looks(page, world, 'account-delete-390');
        await page.getByRole('button', { name: 'Delete my account' }).click();
        await title(page, 'Your account will be deleted').waitFor();
        await looks(page, world, 'account-leaving-390');
        await page.goto(`${url}/account/sign-in?clientId=${clientId}`);
        await sendCredentials(page, credentials, 'Sign in');
        await page.getByText('This account is about to be deleted.').first().waitFor();

        const link = await linkTo(stoa.data, credentials.email);
        await page.goto(link);
        await page.getByRole('heading', { level: 1, name: /^Keep your account/ }).waitFor();
        await page.setViewportSize({ width: 1280, height: 800 });
        await looks(page, world, 'account-keep-1280');
        await page.getByLabel('Language').selectOption('he');
        await page.getByRole('button', { name: 'להשאיר את החשבון שלי' }).waitFor();
        await looks(page, world, 'account-keep-he-1280');
        await page.getByLabel('שפה').selectOption('en');
        await tabTo(page, page.getByRole('button', { name: 'Keep my account' }), 'keeping it');
        await page.keyboard.press('Enter');
        await title(page, 'Your account stays').waitFor();
        await page.goto(`${url}/account/sign-in?clientId=${clientId}`);
        await sendCredentials(page, credentials, 'Sign in');
        await title(page, 'You are signed in').waitFor();
      });
    },
  },
  {
    name: 'a member adds a phone and an address, changes the email address, and takes the account back',
    run: async (world) => {
      const { browser, stoa, url } = world;
      const clientId = text(member(await stoa.command('client', 'list'), '0'), 'clientId');
      const credentials = newCredentials();
      const another = `new-${credentials.email}`;
      // Another address asks for a proof at first.
      await browser.visit({ width: 390, height: 844, mayFail: /\/identity\/v1\/email$/ }, async (page) => {
        await page.goto(`${url}/account/sign-up?clientId=${clientId}`);
        await sendCredentials(page, credentials, 'Create account');
        await title(page, 'You are signed in').waitFor();
        await page.getByRole('link', { name: 'My account' }).click();
        await title(page, 'Profile').waitFor();
        await tabTo(page, page.getByRole('button', { name: 'Add a phone' }), 'adding a phone');
        await page.keyboard.press('Enter');
        await page.keyboard.type('+41 61 555 01 02');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Edit: +41 61 555 01 02' }).waitFor();
        await page.getByRole('button', { name: 'Add an email address' }).click();
        await page.getByRole('textbox', { name: 'Email' }).fill('work@example.org');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Edit: work@example.org' }).waitFor();
        await page.getByRole('button', { name: 'Add a detail' }).click();
        await page.getByLabel('Name', { exact: true }).fill('Hat');
        await page.getByLabel('Text', { exact: true }).fill('green');
        await looks(page, world, 'account-detail-390');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Edit: Hat, green' }).waitFor();
        await page.getByRole('button', { name: 'Add an address' }).click();
        await page.getByLabel('Street and number').fill('Lindenallee 1');
        await page.getByLabel('City').fill('Basel');
        await page.getByLabel('Country').selectOption('CH');
        await looks(page, world, 'account-address-390');
        await page.getByLabel('City').press('Enter');
        await page.getByRole('button', { name: 'Edit: Lindenallee 1, Basel, Switzerland' }).waitFor();
        await looks(page, world, 'account-contact-390');
        await page.getByLabel('Language').selectOption('ar');
        await page.getByRole('button', { name: 'إضافة عنوان' }).waitFor();
        await looks(page, world, 'account-contact-ar-390');
        await page.getByLabel('اللغة').selectOption('en');

        await page.getByRole('link', { name: 'Sign-in and security' }).click();
        await page.getByRole('button', { name: 'Confirm this address' }).click();
        await page.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, credentials.email));
        await page.keyboard.press('Enter');
        await page.getByText('Confirmed', { exact: true }).waitFor();
        await page.getByRole('button', { name: 'Change the address' }).click();
        await page.keyboard.type(another);
        await looks(page, world, 'account-email-390');
        await page.keyboard.press('Enter');
        await page.getByLabel('Password', { exact: true }).fill(credentials.password);
        await page.keyboard.press('Enter');
        await page.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, another));
        await looks(page, world, 'account-email-code-390');
        await page.keyboard.press('Enter');
        await page.getByText(`Your address is ${another} now.`).waitFor();

        await page.goto(await linkTo(stoa.data, credentials.email));
        await page.getByRole('heading', { level: 1, name: /^Take your account/ }).waitFor();
        await looks(page, world, 'account-take-back-390');
        await tabTo(page, page.getByRole('button', { name: 'Take the account back' }), 'taking it back');
        await page.keyboard.press('Enter');
        await title(page, 'The account is yours again').waitFor();
        await looks(page, world, 'account-taken-back-390');
        await page.getByRole('link', { name: 'New password' }).click();
        await page.waitForURL(/\/account\/recover/);
      });
    },
  },
];

/** The link that keeps an account, or takes it back. @param {string} data @param {string} email */
async function linkTo(data, email) {
  for (let tries = 0; tries < 100; tries++) {
    const links = messagesTo(data, email).flatMap((it) => it.links);
    const link = links.find((it) => it.includes('/account/keep#'));
    if (link) return link;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no link to ${email}`);
}
