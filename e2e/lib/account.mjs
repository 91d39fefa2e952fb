// What stories about accounts share: how a page looks, and the codes that were sent.
import { join } from 'node:path';
import { messagesTo } from '../../conformance/lib/mail.mjs';
import { member, text } from '../../conformance/lib/parse.mjs';
import { checkAccessibility } from './axe.mjs';
import { named } from './passkeys.mjs';
import { checkWidth, sendCredentials, tabTo, title } from './steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { World } from './run-tests.mjs' */
/** @import { Credentials } from './steps.mjs' */

/** Pages are the same on each engine: they are looked at on one. */
const LOOKED_AT = 'sqlite';

/**
 * Looks at a page in both colour schemes: nothing that axe finds, nothing that is wider than the window, and a picture.
 * @param {Page} page @param {World} world @param {string} name of the picture
 */
export async function looks(page, { shots, engine }, name) {
  if (engine !== LOOKED_AT) return;
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    await page.emulateMedia({ colorScheme });
    await checkAccessibility(page, `${name}, ${colorScheme}`);
    await checkWidth(page, name);
    await page.screenshot({ path: join(shots, `${name}-${colorScheme}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** The code of so many that were sent to an address. @param {string} data @param {string} email @param {number} [nth] */
export async function codeTo(data, email, nth = 1) {
  for (let tries = 0; tries < 100; tries++) {
    const code = messagesTo(data, email).filter((it) => it.code)[nth - 1]?.code;
    if (code) return code;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no code to ${email}`);
}

/** Where members sign in who may have second factors, by a name for this machine. @param {World} world */
export async function signInPage({ stoa, url }) {
  await stoa.command('site', 'second-factors', 'optional');
  const clientId = text(member(await stoa.command('client', 'list'), '0'), 'clientId');
  return `${named(url)}/account/sign-in?clientId=${clientId}`;
}

/**
 * Makes an account whose address is confirmed, and stays where its factors are.
 * @param {Page} page @param {World} world @param {Credentials} credentials
 */
export async function openFactors(page, world, credentials) {
  await page.goto((await signInPage(world)).replace('sign-in', 'sign-up'));
  await sendCredentials(page, credentials, 'Create account');
  await title(page, 'You are signed in').waitFor();
  await page.goto(`${named(world.url)}/account/password`);
  await page.getByRole('button', { name: 'Confirm this address' }).click();
  await page.getByLabel('6-digit code').pressSequentially(await codeTo(world.stoa.data, credentials.email));
  await page.keyboard.press('Enter');
  await page.getByText('Confirmed', { exact: true }).waitFor();
}

/** By keyboard to the form that a button of its name leads to. @param {Page} page @param {string} name */
export async function openForm(page, name) {
  await tabTo(page, page.getByRole('button', { name }), name);
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name });
  await form.waitFor();
  return form;
}
