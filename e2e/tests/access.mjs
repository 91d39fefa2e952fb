// Atlas and the account pages for those who use a keyboard or a screen reader.
import { checkAccessibility } from '../lib/axe.mjs';
import { insertVisits, openJournal, removeVisit } from '../lib/journal.mjs';
import {
  checkWidth,
  newCredentials,
  openSignIn,
  openSignUp,
  placesTable,
  searchBox,
  searchFor,
  signUp,
  tabTo,
  title,
  waitUntilSignedIn,
  writeVisit,
} from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

/** @type {[string, (page: Page, url: string) => Promise<unknown>][]} */
const PAGES = [
  [
    'home',
    async (page, url) => {
      await page.goto(url);
      await page.getByRole('link', { name: 'Shanghai' }).first().waitFor();
      await page.getByRole('table', { name: 'Places by size' }).waitFor();
      await page.getByRole('table', { name: 'By region' }).waitFor();
    },
  ],
  [
    'home with suggestions',
    async (page, url) => {
      await page.goto(url);
      await searchBox(page).fill('lis');
      await page.getByRole('option').first().waitFor();
    },
  ],
  [
    'places that a text finds',
    async (page, url) => {
      await page.goto(`${url}/places?q=new+yrok`);
      await placesTable(page).waitFor();
    },
  ],
  [
    'countries',
    async (page, url) => {
      await page.goto(`${url}/countries`);
      await page.getByRole('table').waitFor();
    },
  ],
  [
    'country',
    async (page, url) => {
      await page.goto(`${url}/countries/PT`);
      await placesTable(page).waitFor();
      await page.getByRole('table', { name: 'Places by size' }).waitFor();
    },
  ],
  [
    'city',
    async (page, url) => {
      await page.goto(url);
      await searchFor(page, 'lisb', /Lisbon/);
      await title(page, /Lisbon/).waitFor();
    },
  ],
  [
    'about',
    async (page, url) => {
      await page.goto(`${url}/about`);
      await title(page, 'About Atlas').waitFor();
    },
  ],
  [
    'reference of the interface',
    async (page, url) => {
      await page.goto(`${url}/docs/api?filter=member`);
      await page.getByRole('searchbox').fill('item insert');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'POST /v2/items', exact: true }).waitFor();
    },
  ],
  [
    'journal of a visitor',
    async (page, url) => {
      await page.goto(`${url}/journal`);
      await page.getByText('Keep a journal of your travels').waitFor();
    },
  ],
  [
    'sign-in',
    async (page, url) => {
      await page.goto(url);
      await openSignIn(page);
    },
  ],
  [
    'sign-up',
    async (page, url) => {
      await page.goto(url);
      await openSignIn(page);
      await openSignUp(page);
    },
  ],
  [
    'sign-up with problems',
    async (page, url) => {
      await page.goto(url);
      await openSignIn(page);
      await openSignUp(page);
      await page.getByLabel('Email', { exact: true }).fill(newCredentials().email);
      await page.getByLabel('Password', { exact: true }).fill('password');
      await page.getByRole('button', { name: 'Create account', exact: true }).click();
      await page.getByText('This password is too well known').first().waitFor();
    },
  ],
  [
    'journal with a visit',
    async (page, url) => {
      await signUp(page, url);
      await searchFor(page, 'lisb', /Lisbon/);
      await writeVisit(page, { note: 'The light on the river', day: '2024-05-17' });
      await page.goto(`${url}/journal`);
      await page.getByText('The light on the river').waitFor();
    },
  ],
  [
    'journal without a connection, and a visit that was removed elsewhere while it is edited',
    async (page, url) => {
      await signUp(page, url);
      const [id] = await insertVisits(page, [{ visitedOn: '2024-05-17', note: 'The light on the river' }]);
      await openJournal(page, url);
      await page.getByRole('button', { name: /^Edit the visit/ }).click();
      await removeVisit(page, String(id));
      await page.getByText('This visit was removed elsewhere meanwhile').waitFor();
      await page.route(/realtime/, (route) => route.abort());
      await page.evaluate(() => window.dispatchEvent(new Event('offline')));
      await page.getByText('Not connected.').first().waitFor();
    },
  ],
];

/** @type {Test[]} */
export const tests = [
  ...PAGES.flatMap(([name, open]) =>
    [false, true].map((dark) => ({
      name: `accessible: ${name}, ${dark ? 'dark' : 'light'}`,
      run: (/** @type {World} */ { browser, url }) =>
        browser.visit({ dark, mayFail: /flow/ }, async (page) => {
          await open(page, url);
          await checkAccessibility(page, name);
        }),
    })),
  ),
  {
    name: 'keyboard only: search, read, sign up, write, sign out',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        const credentials = newCredentials();
        const { keyboard } = page;
        await page.goto(url);
        await title(page, 'Every place has a name').waitFor();
        await keyboard.press('/');
        await keyboard.type('lisb');
        await page
          .getByRole('option', { name: /Lisbon/ })
          .first()
          .waitFor();
        await keyboard.press('ArrowDown');
        await keyboard.press('Enter');
        await title(page, /Lisbon/).waitFor();

        const signIn = page.getByRole('banner').getByRole('button', { name: 'Sign in' });
        await tabTo(page, signIn, 'the sign-in button');
        await keyboard.press('Enter');
        await page.getByLabel('Password', { exact: true }).waitFor();
        const name = 'Create an account';
        await tabTo(
          page,
          page.getByRole('link', { name }).or(page.getByRole('button', { name })),
          'the way to sign-up',
        );
        await keyboard.press('Enter');
        await title(page, 'Create your account').waitFor();
        await tabTo(page, page.getByLabel('Email', { exact: true }), 'the e-mail field');
        await keyboard.type(credentials.email);
        await tabTo(page, page.getByLabel('Password', { exact: true }), 'the password field');
        await keyboard.type(credentials.password);
        await keyboard.press('Enter');
        await waitUntilSignedIn(page);

        await title(page, /Lisbon/).waitFor();
        const add = 'Add to my journal';
        await tabTo(
          page,
          page.getByRole('link', { name: add }).or(page.getByRole('button', { name: add })),
          'the button to add',
        );
        await keyboard.press('Enter');
        await page.getByRole('button', { name: 'Save visit' }).waitFor();
        await tabTo(page, page.getByLabel(/^What do you want to remember\?/), 'the note');
        await keyboard.type('By keyboard alone');
        await tabTo(page, page.getByRole('button', { name: 'Save visit' }), 'the save button');
        await keyboard.press('Enter');
        await page.getByText(/^You wrote about .* once/).waitFor();

        await tabTo(page, page.getByRole('banner').getByRole('button', { name: 'Sign out' }), 'the sign-out button');
        await keyboard.press('Enter');
        await signIn.waitFor();
      }),
  },
  {
    name: 'keyboard only: the first Tab offers to skip to the content',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(`${url}/countries/PT`);
        await placesTable(page).waitFor();
        await page.keyboard.press('Tab');
        await page.getByRole('link', { name: 'Skip to content' }).and(page.locator(':focus')).waitFor();
        await page.keyboard.press('Enter');
        await page.locator('main:focus').waitFor();
      }),
  },
  {
    name: 'pages fit a screen of 360 pixels',
    run: ({ browser, url }) =>
      browser.visit({ width: 360, height: 740, mayFail: /flow/ }, async (page) => {
        for (const [name, open] of PAGES) {
          await open(page, url);
          await checkWidth(page, name);
          await page.context().clearCookies();
          await page.evaluate(() => {
            localStorage.clear();
            sessionStorage.clear();
          });
        }
      }),
  },
];
