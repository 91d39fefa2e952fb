// Passkeys on the account pages, by the keyboard: made, used by a button and at the field of the address, as second factor and
// as proof, renamed, removed; and not at other addresses.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { messagesTo } from '../../conformance/lib/mail.mjs';
import { member, present, text } from '../../conformance/lib/parse.mjs';
import { codeTo, looks, openFactors, openForm, signInPage } from '../lib/account.mjs';
import { deviceOf, elsewhere, named, onlyByButton, withoutPasskeys } from '../lib/passkeys.mjs';
import { newCredentials, sendCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Credentials } from '../lib/steps.mjs' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

const SIGN_IN = 'Sign in with a passkey';
const USE = 'Use a passkey';
const REFUSED = 'This passkey is not accepted here.';
/** Answers what changes of factors first, until a proof is there. */
const PROOF = /\/identity\/v1\/(factors|recovery-codes)(\/[^/]+)?$/;
const PHONE = { width: 390, height: 844 };

/** @type {Test[]} */
export const tests = [
  {
    name: 'a passkey is made, signs in, is shown as factor and as proof, and is removed',
    run: async (world) => {
      const { browser, stoa } = world;
      const start = await signInPage(world);
      await browser.visit({ ...PHONE, mayFail: PROOF }, async (page) => {
        const credentials = newCredentials();
        const device = await addPasskey(page, world, credentials);
        let passkeys = await device.passkeys();
        assert.equal(passkeys.length, 1);
        assert.equal(present(passkeys[0]).rpId, 'localhost');
        await looks(page, world, 'passkey-list-390');

        // By the button: it is both factors.
        passkeys = await elsewhere(world, passkeys, { mayFail: PROOF }, async (other) => {
          await onlyByButton(other);
          await other.goto(start);
          const press = other.getByRole('button', { name: SIGN_IN });
          await press.waitFor();
          await looks(other, world, 'passkey-sign-in-1280');
          await tabTo(other, press, 'the way in by a passkey');
          await other.keyboard.press('Enter');
          await title(other, 'You are signed in').waitFor();

          // And shown once more, before something changes.
          await other.goto(`${named(world.url)}/account/password`);
          await other.getByRole('button', { name: 'New recovery codes' }).click();
          await other.getByText('Before this changes, confirm with your passkey.').waitFor();
          await other.waitForFunction((name) => document.activeElement?.textContent === name, USE);
          await looks(other, world, 'passkey-proof-1280');
          await other.keyboard.press('Enter');
          await other.getByRole('button', { name: 'I have kept them' }).waitFor();
        });

        // At the field of the address, without a press.
        passkeys = await elsewhere(world, passkeys, PHONE, async (other) => {
          await other.goto(start);
          await title(other, 'You are signed in').waitFor();
        });

        // After the password, as the second factor.
        passkeys = await elsewhere(world, passkeys, PHONE, async (other) => {
          await onlyByButton(other);
          await other.goto(start);
          await sendCredentials(other, credentials, 'Sign in');
          await title(other, 'Confirm that it is you').waitFor();
          const use = other.getByRole('button', { name: USE });
          await tabTo(other, use, 'the passkey as second factor');
          await looks(other, world, 'passkey-factor-390');
          await other.keyboard.press('Enter');
          await title(other, 'You are signed in').waitFor();
        });

        await device.keeps(passkeys);
        await page.reload();
        await page.getByText('Last used on').waitFor();
        const rename = page.getByRole('button', { name: 'Rename: Laptop' });
        await tabTo(page, rename, 'another name');
        await page.keyboard.press('Enter');
        await page.getByRole('form', { name: 'Rename Laptop' }).waitFor();
        await looks(page, world, 'passkey-rename-390');
        await page.keyboard.press('ControlOrMeta+A');
        await page.keyboard.type('Work');
        await page.keyboard.press('Enter');
        // The other browser's new recovery codes have ended what was shown here.
        await page.getByText('Before this changes, confirm with your passkey.').waitFor();
        await page.waitForFunction((name) => document.activeElement?.textContent === name, USE);
        await page.keyboard.press('Enter');
        await page.getByText('The new name is saved.').waitFor();
        const remove = page.getByRole('button', { name: 'Remove: Work' });
        await tabTo(page, remove, 'removal');
        await page.keyboard.press('Enter');
        await page.getByRole('group', { name: 'Remove Work?' }).waitFor();
        await looks(page, world, 'passkey-remove-390');
        await page.keyboard.press('Enter');
        await page.getByText('Removed.').waitFor();
        await page.getByText('Your password alone signs you in.').waitFor();
        const told = messagesTo(stoa.data, credentials.email).length;
        assert.ok(told > 2, `the member was told ${told} times`);

        // The device still has it, and it signs in no more.
        await elsewhere(world, passkeys, PHONE, async (other) => {
          await onlyByButton(other);
          await other.goto(start);
          await other.getByRole('button', { name: SIGN_IN }).click();
          await other.getByRole('alert').getByText(REFUSED).waitFor();
          await looks(other, world, 'passkey-refused-390');
          await sendCredentials(other, credentials, 'Sign in');
          await title(other, 'You are signed in').waitFor();
        });
      });
    },
  },
  {
    name: 'a passkey is of no use at another address, nor twice',
    run: async (world) => {
      const { browser, url } = world;
      const start = await signInPage(world);
      const credentials = newCredentials();
      const passkeys = await browser.visit({ mayFail: PROOF }, async (page) =>
        (await addPasskey(page, world, credentials)).passkeys(),
      );
      const other = createServer((_, reply) => {
        reply.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Another page</title>');
      });
      await new Promise((listening) => other.listen(0, '127.0.0.1', () => listening(undefined)));
      const address = other.address();
      if (address === null || typeof address === 'string') throw new Error('the other page has no port');
      try {
        await elsewhere(world, passkeys, {}, async (page) => {
          await onlyByButton(page);
          // Another page of this host has the passkey sign a challenge of ours, and hands it on.
          await page.goto(start);
          const first = await openFlow(page);
          await page.goto(`http://localhost:${address.port}/`);
          const elsewhereSigned = await sign(page, first.options);
          await page.goto(start);
          const second = await openFlow(page);
          assert.equal(await answer(page, first, elsewhereSigned), 'PASSKEY_REFUSED');
          // The page itself does, once.
          const signed = await sign(page, second.options);
          assert.equal(await answer(page, second, signed), 'DONE');
          await page.goto(start);
          const third = await openFlow(page);
          assert.equal(await answer(page, { ...third, challengeId: second.challengeId }, signed), 'PASSKEY_REFUSED');
          assert.equal(await answer(page, third, signed), 'PASSKEY_REFUSED');

          // A number is no name that a passkey can be for, and our page offers none there.
          await page.goto(start.replace('//localhost', '//127.0.0.1'));
          await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
          assert.equal(new URL(page.url()).host, new URL(url).host);
          assert.equal(await passkeyOf(page), null);
          assert.equal(await page.getByRole('button', { name: SIGN_IN }).count(), 0);
          const refused = sign(page, third.options).then(
            () => 'signed',
            (/** @type {unknown} */ error) => String(error),
          );
          assert.match(await refused, /SecurityError/);
        });
      } finally {
        other.close();
      }
    },
  },
  {
    name: 'a passkey where the site requires a factor; a device that does not recognise the person; a browser without passkeys',
    run: async (world) => {
      const { browser, stoa } = world;
      const start = await signInPage(world);
      await stoa.command('site', 'second-factors', 'required', '--grace', '0d');
      try {
        const credentials = newCredentials();
        await browser.visit(PHONE, async (page) => {
          const device = await deviceOf(page);
          await page.goto(start.replace('sign-in', 'sign-up'));
          await sendCredentials(page, credentials, 'Create account');
          await title(page, 'Check your email').waitFor();
          await page.getByLabel('6-digit code').pressSequentially(await codeTo(stoa.data, credentials.email));
          await title(page, 'Protect your account').waitFor();
          const create = page.getByRole('button', { name: 'Create a passkey' });
          await create.waitFor();
          await looks(page, world, 'passkey-enrol-390');
          await device.recognises(false);
          await tabTo(page, create, 'a passkey');
          await page.keyboard.press('Enter');
          await page.getByRole('alert').getByText('No passkey was used.').waitFor();
          await looks(page, world, 'passkey-cancelled-390');
          await page.getByRole('button', { name: 'Use an authenticator app' }).click();
          await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
          await page.getByRole('button', { name: USE }).click();
          await device.recognises(true);
          await tabTo(page, create, 'a passkey');
          await page.keyboard.press('Enter');
          await title(page, 'Keep these recovery codes').waitFor();
          await tabTo(page, page.getByRole('button', { name: 'I have kept them' }), 'the way on');
          await page.keyboard.press('Enter');
          await title(page, 'You are signed in').waitFor();
        });
      } finally {
        await stoa.command('site', 'second-factors', 'optional');
      }
      // From right to left, in both widths.
      for (const [width, lang, name] of /** @type {const} */ ([
        [390, 'ar', 'تسجيل الدخول بمفتاح مرور'],
        [1280, 'he', 'כניסה עם מפתח גישה'],
      ])) {
        await browser.visit({ width }, async (page) => {
          await onlyByButton(page);
          const device = await deviceOf(page);
          await device.recognises(false);
          await page.goto(`${start}&lang=${lang}`);
          await page.getByRole('button', { name }).click();
          await page.getByRole('alert').waitFor();
          await looks(page, world, `passkey-${lang}-${width}`);
        });
      }
      await browser.visit({}, async (page) => {
        await withoutPasskeys(page);
        await page.goto(start);
        const press = page.getByRole('button', { name: SIGN_IN });
        await tabTo(page, press, 'what this browser cannot do');
        await page.getByRole('tooltip').getByText('This browser cannot use passkeys here.').waitFor();
        await looks(page, world, 'passkey-none-1280');
      });
    },
  },
];

/**
 * Makes an account with a passkey called Laptop, and stays on its page.
 * @param {Page} page @param {World} world @param {Credentials} credentials
 */
async function addPasskey(page, world, credentials) {
  const device = await deviceOf(page);
  await openFactors(page, world, credentials);
  const form = await openForm(page, 'Add a passkey');
  await tabTo(page, form.getByRole('textbox'), 'the name of a passkey');
  await page.keyboard.type('Laptop');
  await looks(page, world, 'passkey-add');
  await page.keyboard.press('Enter');
  await page.getByLabel('Password', { exact: true }).fill(credentials.password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByText('The passkey is ready.').waitFor();
  await page.getByText('Laptop', { exact: true }).waitFor();
  return device;
}

/** The path of the calls of the flow that a page shows. @param {Page} page */
async function flowPath(page) {
  await page.waitForURL('**/account/flow/*');
  return new URL(page.url()).pathname.replace('/account/flow/', '/_api/account/v1/flows/');
}

/** What the page's flow asks of a passkey. @param {Page} page */
async function passkeyOf(page) {
  const view = await page.evaluate(async (path) => (await fetch(path)).json(), await flowPath(page));
  return member(member(view, 'step'), 'passkey');
}

/** The flow of a page, with a challenge. @param {Page} page */
async function openFlow(page) {
  const passkey = await passkeyOf(page);
  return { path: await flowPath(page), challengeId: text(passkey, 'challengeId'), options: text(passkey, 'options') };
}

/** Has a passkey sign, on the page that is open. @param {Page} page @param {string} options */
async function sign(page, options) {
  return page.evaluate(async (json) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(json));
    return JSON.stringify(await navigator.credentials.get({ publicKey }));
  }, options);
}

/**
 * Answers a flow from our own page: the code of the refusal, or the step that it leads to.
 * @param {Page} page @param {{ path: string, challengeId: string }} flow @param {string} credential
 */
async function answer(page, { path, challengeId }, credential) {
  const view = await page.evaluate(
    async ([to, body]) => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(to, { method: 'POST', headers, body })).json();
    },
    /** @type {const} */ ([path, JSON.stringify({ type: 'PASSKEY', challengeId, credential, remember: false })]),
  );
  const [problem] = /** @type {unknown[]} */ (member(view, 'problems'));
  return text(problem ?? member(view, 'step'), problem === undefined ? 'type' : 'code');
}
