// Notifications as a second factor, by the keyboard: a browser is added, asked, answers with the number, and denies; and what a browser
// shows that has none. The service for notifications is one of this machine, and what comes to it is brought by the browser's tools.
import assert from 'node:assert/strict';
import * as ece from 'http_ece';
import { messagesTo } from '../../conformance/lib/mail.mjs';
import { member, present, text } from '../../conformance/lib/parse.mjs';
import { startPushService } from '../../conformance/lib/push.mjs';
import { looks, openFactors, openForm, signInPage } from '../lib/account.mjs';
import { callAsMember, codeFromWorker, startWorker } from '../lib/push.mjs';
import { newCredentials, sendCredentials, tabTo, title } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { PushBrowser } from '../../conformance/lib/push.mjs' */
/** @import { Credentials } from '../lib/steps.mjs' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

/** @typedef {Awaited<ReturnType<typeof startWorker>>} Worker */

const ADD = 'Get notifications in this browser';
const WAITS = 'Look at your other browser';
const ASKED = /^Is it you who signs in to /;
/** Refuses what is over. */
const OVER = /\/push-questions$/;
const PHONE = { width: 390, height: 844 };

/** @type {Test[]} */
export const tests = [
  {
    name: 'a browser is added for notifications, and answers a sign-in elsewhere with its number, or denies it',
    run: async (world) => {
      const { browser, stoa } = world;
      const service = await startPushService(ece);
      try {
        await browser.visit({ ...PHONE, mayFail: OVER }, async (page) => {
          const credentials = newCredentials();
          await openFactors(page, world, credentials);
          await openForm(page, ADD);
          await looks(page, world, 'push-add-390');
          // Loaded under the site's own address, so that the worker is the page's.
          await page.reload();
          await page.getByRole('button', { name: ADD }).waitFor();
          const worker = await startWorker(page);
          const { pushed, recoveryCodes } = await addBrowser(page, service, worker, credentials);
          await page.reload();
          await page.getByText('Notifications in a browser').waitFor();
          await looks(page, world, 'push-list-390');

          // The number opens it.
          await signingIn(world, credentials, async (other, number) => {
            const token = await bring(worker, pushed, 0);
            await answering(page, worker, token, async (asked) => {
              await looks(asked, world, 'push-question-390');
              const field = asked.getByRole('textbox', { name: 'The number that is shown where you sign in' });
              await tabTo(asked, field, 'the number');
              await asked.keyboard.type(number);
              await asked.keyboard.press('Enter');
              await title(asked, 'The sign-in goes on').waitFor();
              await looks(asked, world, 'push-confirmed-390');
              // Once.
              await asked.reload();
              await title(asked, 'There is nothing left to answer').waitFor();
            });
            await title(other, 'You are signed in').waitFor();
          });
          await page.reload();
          await page.getByText('Last used on').waitFor();

          // A denial ends it: the other factors are left, and the member is told.
          const told = messagesTo(stoa.data, credentials.email).length;
          await signingIn(world, credentials, async (other) => {
            const token = await bring(worker, pushed, 1);
            await answering(page, worker, token, async (asked) => {
              await asked.locator('footer select').selectOption('ar');
              await title(asked, /^هل أنت من يسجّل الدخول/).waitFor();
              await looks(asked, world, 'push-question-ar-390');
              await asked.locator('footer select').selectOption('en');
              const deny = asked.getByRole('button', { name: 'Deny' });
              await tabTo(asked, deny, 'the denial');
              await asked.keyboard.press('Enter');
              await title(asked, 'The sign-in was stopped').waitFor();
              await looks(asked, world, 'push-denied-390');
              const notMe = asked.getByRole('button', { name: 'It was not me' });
              await tabTo(asked, notMe, 'that it was another');
              await asked.keyboard.press('Enter');
              await title(asked, 'Protect your account').waitFor();
              await asked.getByRole('link', { name: 'See where you are signed in' }).waitFor();
              await looks(asked, world, 'push-protect-390');
              await asked.getByRole('link', { name: 'Change the password' }).click();
              await asked.waitForURL(/\/account\/password$/);
            });
            await other.getByRole('alert').getByText('The notification was denied').waitFor();
            assert.equal(await other.getByRole('button', { name: 'Use a notification' }).count(), 0);
            await looks(other, world, 'push-refused-1280');
            const code = other.getByRole('textbox', { name: 'Recovery code' });
            await tabTo(other, code, 'the recovery code');
            await other.keyboard.type(present(recoveryCodes[0]));
            await other.keyboard.press('Enter');
            await title(other, 'You are signed in').waitFor();
          });
          await eventually(() => messagesTo(stoa.data, credentials.email).length > told, 'a message about the denial');
          assert.equal(pushed.messages.length, 3, 'one with the code, and one for each question');
        });
      } finally {
        await service.stop();
      }
    },
  },
  {
    name: 'a browser that blocks notifications, or has none, says so',
    run: async (world) => {
      const { browser } = world;
      await browser.visit(PHONE, async (page) => {
        await openFactors(page, world, newCredentials());
        const form = await openForm(page, ADD);
        const press = form.getByRole('button', { name: ADD });
        await tabTo(page, press, 'what adds this browser');
        await page.keyboard.press('Enter');
        await form.getByRole('alert').getByText('This browser blocks notifications of this site.').waitFor();
        await looks(page, world, 'push-blocked-390');
      });
      await browser.visit({}, async (page) => {
        await page.addInitScript(() => {
          Reflect.deleteProperty(window, 'PushManager');
        });
        await openFactors(page, world, newCredentials());
        const press = page.getByRole('button', { name: ADD });
        await tabTo(page, press, 'what this browser cannot do');
        await page.getByRole('tooltip').getByText('This browser can not get notifications here.').waitFor();
        await looks(page, world, 'push-none-1280');
      });
      await browser.visit({ ...PHONE, mayFail: OVER }, async (page) => {
        await page.goto((await signInPage(world)).replace(/sign-in.*$/, 'push#nothing-of-this-name'));
        await title(page, 'There is nothing left to answer').waitFor();
        await looks(page, world, 'push-gone-390');
      });
    },
  },
];

/**
 * Has the member's browser asked from now on, by calls: the page's own way ends at the service of the browser's maker.
 * @param {Page} page @param {Awaited<ReturnType<typeof startPushService>>} service @param {Worker} worker
 * @param {Credentials} credentials
 */
async function addBrowser(page, service, worker, { password }) {
  await callAsMember(page, 'proof', { password });
  const pushed = service.browser(text(await callAsMember(page, 'factors'), 'pushKey'));
  const begun = await callAsMember(page, 'factors', {
    type: 'PUSH',
    subscription: pushed.subscription,
    name: 'Telephone',
  });
  const handed = await codeFromWorker(page);
  const message = await pushed.next('code');
  const { title: shown } = await worker.bring(message, 'Your code for ');
  const code = await handed();
  assert.equal(code, text(message, 'code'));
  assert.ok(shown.endsWith(code), shown);
  const id = text(member(begun, 'factor'), 'id');
  const confirmed = await callAsMember(page, `factors/${id}/confirm`, { code });
  const recoveryCodes = member(confirmed, 'recoveryCodes');
  assert.ok(Array.isArray(recoveryCodes) && recoveryCodes.length === 10);
  return { pushed, recoveryCodes: recoveryCodes.map(String) };
}

/**
 * Signs in with the password in another browser, up to the number that it shows.
 * @param {World} world @param {Credentials} credentials @param {(page: Page, number: string) => Promise<void>} work
 */
async function signingIn(world, credentials, work) {
  const { browser } = world;
  const start = await signInPage(world);
  await browser.visit({}, async (page) => {
    await page.goto(start);
    await sendCredentials(page, credentials, 'Sign in');
    await title(page, 'Confirm that it is you').waitFor();
    const send = page.getByRole('button', { name: 'Send the notification' });
    await tabTo(page, send, 'what sends the notification');
    await looks(page, world, 'push-factor-1280');
    await page.keyboard.press('Enter');
    await title(page, WAITS).waitFor();
    const number = (await page.locator('.push-number').innerText()).trim();
    assert.match(number, /^\d\d$/);
    await looks(page, world, 'push-number-1280');
    await page.setViewportSize(PHONE);
    await page.locator('footer select').selectOption('he');
    await title(page, 'כדאי להביט בדפדפן האחר').waitFor();
    await looks(page, world, 'push-number-he-390');
    await page.locator('footer select').selectOption('en');
    await page.setViewportSize({ width: 1280, height: 800 });
    await title(page, WAITS).waitFor();
    await work(page, number);
  });
}

/** Brings the question that comes after so many, and gives the token that its notification leads to. @param {Worker} worker @param {PushBrowser} pushed @param {number} before */
async function bring(worker, pushed, before) {
  const message = await pushed.next('question', before);
  const shown = await worker.bring(message, 'Is it you who signs in to ');
  assert.equal(shown.token, text(message, 'token'));
  assert.equal(shown.dir, 'ltr');
  return shown.token;
}

/** Opens what a notification leads to. @param {Page} page of the same browser @param {Worker} worker @param {string} token @param {(page: Page) => Promise<void>} work */
async function answering(page, { home }, token, work) {
  const asked = await page.context().newPage();
  await asked.setViewportSize(PHONE);
  await asked.goto(`${home}push#${token}`);
  await title(asked, ASKED).waitFor();
  await work(asked);
  await asked.close();
}

/** @param {() => boolean} isSo @param {string} what */
async function eventually(isSo, what) {
  for (let tries = 0; tries < 100; tries++) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not come`);
}
