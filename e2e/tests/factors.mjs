// A second factor on the account pages, by the keyboard alone: a code of an authenticator, one that goes to a telephone, a
// recovery code, a browser that is remembered.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { messagesTo } from '../../conformance/lib/mail.mjs';
import { member, present, text } from '../../conformance/lib/parse.mjs';
import { codesTo } from '../../conformance/lib/telephone.mjs';
import { codeAt, currentStep, stepAfter } from '../../conformance/lib/totp.mjs';
import { looks } from '../lib/account.mjs';
import { checkAccessibility } from '../lib/axe.mjs';
import { checkWidth, newCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Credentials } from '../lib/steps.mjs' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

const QUESTION = 'Confirm that it is you';
const SETUP = 'Protect your account';
const KEEP = 'Keep these recovery codes';
const OWN = '/_api/identity/v1';

/** @type {Test[]} */
export const tests = [
  {
    name: 'a second factor is asked for, by code, by recovery code, and not where the browser is remembered',
    run: async ({ browser, stoa, url }) => {
      await stoa.command('site', 'second-factors', 'optional');
      const client = member(await stoa.command('client', 'list'), '0');
      const clientId = text(client, 'clientId');
      const redirectUri = text(member(client, 'redirectUris'), '0');
      const credentials = newCredentials();
      const { secret, recoveryCodes, step } = await enrolled({ url, stoa }, { clientId, redirectUri }, credentials);
      const start = `${url}/account/sign-in?clientId=${clientId}`;
      for (const dark of [false, true]) {
        await browser.visit({ width: 390, height: 800, dark }, async (page) => {
          await page.goto(start);
          await sendPassword(page, credentials);
          await title(page, QUESTION).waitFor();
          await checkAccessibility(page, `${QUESTION}, ${dark ? 'dark' : 'light'}`);
          await checkWidth(page, QUESTION);
          // A wrong code is said at its field, and announced.
          const code = page.getByRole('textbox', { name: '6-digit code' });
          await code.pressSequentially('000000');
          await page.keyboard.press('Enter');
          await page.getByText('The code is wrong or has expired.').waitFor();
          assert.equal(await code.getAttribute('aria-invalid'), 'true');
          const other = page.getByRole('button', { name: 'Use a recovery code' });
          await tabTo(page, other, 'the way to recovery codes');
          await page.keyboard.press('Enter');
          const recovery = page.getByRole('textbox', { name: 'Recovery code' });
          await recovery.waitFor();
          await checkAccessibility(page, `recovery code, ${dark ? 'dark' : 'light'}`);
          await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'code');
          await page.keyboard.type((recoveryCodes.pop() ?? '').toLowerCase().replaceAll('-', ' '));
          await page.keyboard.press('Enter');
          await title(page, 'You are signed in').waitFor();
        });
      }
      await browser.visit({}, async (page) => {
        await page.goto(start);
        await sendPassword(page, credentials);
        await title(page, QUESTION).waitFor();
        const remember = page.getByRole('checkbox', { name: /^Do not ask again in this browser/ });
        await tabTo(page, remember, 'the question whether to ask again');
        await page.keyboard.press('Space');
        const code = page.getByRole('textbox', { name: '6-digit code' });
        await code.fill(codeAt(secret, await stepAfter(step)));
        await code.press('Enter');
        await title(page, 'You are signed in').waitFor();
        await page.goto(start);
        await sendPassword(page, credentials);
        await title(page, 'You are signed in').waitFor();
      });
    },
  },
  {
    name: 'a code by text message, or by a call, is sent when it is asked for and signs in',
    run: async (world) => {
      const { browser, stoa, url } = world;
      await stoa.command('site', 'second-factors', 'optional', '--by-telephone', 'true');
      const client = member(await stoa.command('client', 'list'), '0');
      const clientId = text(client, 'clientId');
      const redirectUri = text(member(client, 'redirectUris'), '0');
      const number = `+4915${randomBytes(4).readUInt32BE().toString().padStart(10, '0')}`;
      const credentials = newCredentials();
      const token = await provedMember({ url, stoa }, { clientId, redirectUri }, credentials);
      for (const type of ['SMS', 'CALL']) {
        const begun = await call(url, `${OWN}/factors`, token, { type, phone: number });
        const id = text(member(begun, 'factor'), 'id');
        await call(url, `${OWN}/factors/${id}/confirm`, token, { code: present(codesTo(stoa.data, number).at(-1)) });
      }
      for (const [type, width] of /** @type {const} */ ([
        ['SMS', 390],
        ['CALL', 1280],
      ])) {
        await browser.visit({ width, height: 800 }, async (page) => {
          await page.goto(`${url}/account/sign-in?clientId=${clientId}`);
          await sendPassword(page, credentials);
          await title(page, QUESTION).waitFor();
          if (type === 'CALL') {
            await tabTo(page, page.getByRole('button', { name: 'Use a code by phone call' }), 'the way to calls');
            await page.keyboard.press('Enter');
          }
          const send = page.getByRole('button', { name: 'Send a code' });
          await tabTo(page, send, 'what sends a code');
          await looks(page, world, `telephone-${type}-${width}`);
          await page.keyboard.press('Enter');
          const code = page.getByRole('textbox', { name: '6-digit code' });
          await code.waitFor();
          await page.getByText(`+49***${number.slice(-2)}`).waitFor();
          await looks(page, world, `telephone-${type}-sent-${width}`);
          await code.focus();
          await page.keyboard.type(present(codesTo(stoa.data, number).at(-1)));
          await page.keyboard.press('Enter');
          await title(page, 'You are signed in').waitFor();
        });
      }
    },
  },
  {
    name: 'a second factor that the site requires is set up while signing up',
    run: async (world) => {
      const { browser, stoa, url } = world;
      await stoa.command('site', 'second-factors', 'required', '--grace', '0d');
      try {
        for (const width of [390, 1280]) {
          const credentials = newCredentials();
          await browser.visit({ width, height: 800 }, async (page) => {
            await page.goto(`${url}/account/sign-up`);
            await title(page, 'Create your account').waitFor();
            await sendPassword(page, credentials);
            await title(page, 'Check your email').waitFor();
            await page
              .getByRole('textbox', { name: '6-digit code' })
              .pressSequentially(await codeTo(stoa.data, credentials.email));
            await title(page, SETUP).waitFor();
            await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
            await looks(page, world, `enrol-${width}`);
            const key = page.getByRole('group', { name: 'Or type this key into the app:' });
            const secret = (await key.innerText()).replaceAll(' ', '');
            const code = page.getByRole('textbox', { name: '6-digit code' });
            await code.focus();
            await page.keyboard.type(codeAt(secret, currentStep()));
            await page.keyboard.press('Enter');
            await title(page, KEEP).waitFor();
            assert.equal(await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').count(), 10);
            await looks(page, world, `codes-${width}`);
            await tabTo(page, page.getByRole('button', { name: 'I have kept them' }), 'the way on');
            await page.keyboard.press('Enter');
            await title(page, 'You are signed in').waitFor();
          });
        }
      } finally {
        await stoa.command('site', 'second-factors', 'optional');
      }
    },
  },
];

/** @param {Page} page @param {Credentials} credentials */
async function sendPassword(page, { email, password }) {
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
}

/**
 * A new member with an authenticator.
 * @param {Pick<World, 'url' | 'stoa'>} world @param {{ clientId: string, redirectUri: string }} client @param {Credentials} credentials
 */
async function enrolled({ url, stoa }, client, credentials) {
  const token = await provedMember({ url, stoa }, client, credentials);
  const begun = await call(url, `${OWN}/factors`, token, {});
  const secret = text(begun, 'secret');
  const step = currentStep();
  const id = text(member(begun, 'factor'), 'id');
  const confirmed = await call(url, `${OWN}/factors/${id}/confirm`, token, { code: codeAt(secret, step) });
  const codes = member(confirmed, 'recoveryCodes');
  assert.ok(Array.isArray(codes));
  return { secret, recoveryCodes: codes.map(String), step };
}

/**
 * A token of a new member who may change their second factors.
 * @param {Pick<World, 'url' | 'stoa'>} world @param {{ clientId: string, redirectUri: string }} client @param {Credentials} credentials
 */
async function provedMember({ url, stoa }, client, { email, password }) {
  const { clientId } = client;
  const visitor = text(await call(url, '/oauth2/token', '', { clientId, grantType: 'anonymous' }), 'access_token');
  const registered = await call(url, '/v2/register', visitor, { loginId: { email }, password });
  const token = await memberToken(url, client, visitor, text(registered, 'sessionToken'));
  const identityId = text(member(registered, 'identity'), 'id');
  const started = await call(url, '/v1/start', token, { identityId, target: 'EMAIL' });
  const code = await codeTo(stoa.data, email);
  await call(url, '/v1/auth/verify', visitor, { code, stateToken: text(started, 'verificationId') });
  await call(url, `${OWN}/proof`, token, { password });
  return token;
}

/** The code that was sent to an address. @param {string} data @param {string} email */
async function codeTo(data, email) {
  for (let tries = 0; tries < 100; tries++) {
    const code = messagesTo(data, email).at(-1)?.code;
    if (code) return code;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no code to ${email}`);
}

/**
 * What a client does with a `sessionToken`.
 * @param {string} url @param {{ clientId: string, redirectUri: string }} client @param {string} visitor
 * @param {string} sessionToken
 */
async function memberToken(url, { clientId, redirectUri }, visitor, sessionToken) {
  const codeVerifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const authRequest = {
    ...{ clientId, redirectUri, sessionToken, codeChallenge, codeChallengeMethod: 'S256', state: 'state' },
    ...{ responseMode: 'query', responseType: 'code', scope: 'offline_access' },
  };
  const path = '/_api/redirects-api/v1/redirect-session';
  const session = member(await call(url, path, visitor, { auth: { authRequest, prompt: 'none' } }), 'redirectSession');
  const reply = await fetch(text(session, 'fullUrl'), { redirect: 'manual' });
  const code = new URL(present(reply.headers.get('location'))).searchParams.get('code');
  const grant = { clientId, redirectUri, code, codeVerifier, grantType: 'authorization_code' };
  return text(await call(url, '/oauth2/token', '', grant), 'access_token');
}

/** @param {string} url @param {string} path @param {string} token @param {object} body */
async function call(url, path, token, body) {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: token } : {}) };
  const reply = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
}
