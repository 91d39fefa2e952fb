// A site's own looks on the account pages, the page of those who run it, and sites beneath one host.
import assert from 'node:assert/strict';
import { checkAccessibility } from '../lib/axe.mjs';
import { OWNER_PASSWORD, becomeOwner, makeSite } from '../lib/owners.mjs';
import {
  checkWidth,
  newCredentials,
  openSignIn,
  openSignUp,
  sendCredentials,
  title,
  waitUntilSignedIn,
} from '../lib/steps.mjs';
import { member, text } from '../../conformance/lib/parse.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

/** One that is too light to be read on paper, one too dark for slate, one between. */
const COLOURS = ['#ffd54f', '#0b1f66', '#7a7a7a'];
/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** @param {Page} page @param {string} email @param {string} password */
const signInAsOwner = (page, email, password) => sendCredentials(page, { email, password }, 'Sign in');

/** @type {Test[]} */
export const tests = [
  {
    name: 'an owner changes the password and ends the other sign-ins',
    run: async (world) => {
      const { browser, url } = world;
      const site = await makeSite(world, 'Harbour');
      // Without a session the page is told so by a refusal.
      await browser.visit({ mayFail: /account\/v1\/operator$/ }, async (first) => {
        const email = await becomeOwner(world, first, site);
        await browser.visit({}, async (second) => {
          await second.goto(`${url}/s/${site}/account/owner`);
          await signInAsOwner(second, email, OWNER_PASSWORD);
          await title(second, 'You are signed in').waitFor();
          await second.getByRole('link', { name: 'Password and sign-ins' }).click();
          await title(second, 'Password and sign-ins').waitFor();
          const signIns = second.getByRole('region', { name: 'Where you are signed in' }).getByRole('listitem');
          await signIns.nth(1).waitFor();
          assert.equal(await signIns.count(), 2);
          await checkAccessibility(second, 'the page of an owner');
          await second.getByLabel('Current password').fill('not this one');
          await second.getByLabel('New password').fill('another long phrase');
          await second.getByRole('button', { name: 'Save password' }).click();
          await second.getByText('The email or password does not match.').waitFor();
          await second.getByLabel('Current password').fill(OWNER_PASSWORD);
          await second.getByRole('button', { name: 'Save password' }).click();
          await second.getByText('Your password was changed').waitFor();
          await signIns.nth(1).waitFor({ state: 'detached' });
          await signIns.getByText('This browser').waitFor();
        });
        await first.goto(`${url}/s/${site}/account/security`);
        await first.getByText('Sign in as someone who runs the site').waitFor();
        await first.getByRole('link', { name: 'Sign in', exact: true }).click();
        await signInAsOwner(first, email, 'another long phrase');
        await title(first, 'You are signed in').waitFor();
      });
    },
  },
  {
    name: 'Atlas beneath the path of its site keeps to it',
    run: async ({ browser, stoa, url }) => {
      const sites = await stoa.command('site', 'list');
      assert.ok(Array.isArray(sites));
      const demo = text(
        /** @type {unknown[]} */ (sites).find((it) => member(it, 'isDemo') === true),
        'siteId',
      );
      await browser.visit({}, async (page) => {
        await page.goto(`${url}/s/${demo}/`);
        await title(page, 'Every place has a name').waitFor();
        await page.getByRole('link', { name: 'Countries' }).first().click();
        await page.waitForURL(`${url}/s/${demo}/countries`);
        await page.getByRole('table').waitFor();
        await page.reload();
        await page.getByRole('table').waitFor();
        await openSignIn(page);
        await openSignUp(page);
        await sendCredentials(page, newCredentials(), 'Create account');
        await waitUntilSignedIn(page);
        assert.equal(page.url(), `${url}/s/${demo}/countries`);
      });
    },
  },
  ...COLOURS.flatMap((colour) =>
    [false, true].map((dark) => ({
      name: `the looks of a site in ${colour}, ${dark ? 'dark' : 'light'}`,
      /** @param {World} world */
      run: async (world) => {
        const { browser, stoa, url } = world;
        const site = await makeSite(world, `Looks ${colour.slice(1)} ${dark ? 'dark' : 'light'}`);
        await stoa.command(
          'site',
          'update',
          site,
          '--colour',
          colour,
          '--logo',
          'https://logo.example.org/logo.png',
          '--terms',
          'https://www.example.org/terms',
          '--privacy',
          'https://www.example.org/privacy',
        );
        await browser.visit({ width: 390, height: 800, dark }, async (page) => {
          /** @type {(string | undefined)[]} */
          const referers = [];
          await page.route('https://logo.example.org/**', (route) => {
            referers.push(route.request().headers()['referer']);
            return route.fulfill({ contentType: 'image/png', body: PIXEL });
          });
          await page.goto(`${url}/s/${site}/account/sign-in`);
          const logo = page.getByRole('img', { name: /^Looks/ });
          await logo.waitFor();
          assert.ok(
            await logo.evaluate((it) => /** @type {HTMLImageElement} */ (it).naturalWidth > 0),
            'the logo is shown',
          );
          assert.deepEqual(referers, [undefined], 'where it lies is not told who signs in');
          await page.getByRole('link', { name: 'Terms' }).waitFor();
          await page.getByRole('link', { name: 'Privacy' }).waitFor();
          await checkWidth(page, 'the sign-in page with looks');
          await checkAccessibility(page, `sign-in in ${colour}`);
          await page.getByRole('button', { name: 'Sign in', exact: true }).hover();
          await checkAccessibility(page, `sign-in in ${colour} beneath a pointer`);
          await page.getByRole('button', { name: 'Create an account' }).click();
          await title(page, 'Create your account').waitFor();
          await checkAccessibility(page, `sign-up in ${colour}`);
        });
      },
    })),
  ),
];
