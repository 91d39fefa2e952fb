// @ts-check
// Atlas and the account pages for those who use a keyboard or a screen reader.
import { axeClean } from '../lib/axe.mjs';
import {
  personNew,
  searchBox,
  searchFor,
  signedIn,
  signInOpen,
  signUp,
  signUpOpen,
  tabTo,
  title,
  visitWrite,
} from '../lib/steps.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** @type {[string, (page: Page, url: string) => Promise<unknown>][]} */
const PAGES = [
  [
    'home',
    async (page, url) => {
      await page.goto(url);
      await page.getByRole('link', { name: 'Shanghai' }).first().waitFor();
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
      await page.getByRole('table').waitFor();
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
      await signInOpen(page);
    },
  ],
  [
    'sign-up',
    async (page, url) => {
      await page.goto(url);
      await signInOpen(page);
      await signUpOpen(page);
    },
  ],
  [
    'sign-up with problems',
    async (page, url) => {
      await page.goto(url);
      await signInOpen(page);
      await signUpOpen(page);
      await page.getByLabel('Email', { exact: true }).fill(personNew().email);
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
      await visitWrite(page, { note: 'The light on the river', day: '2024-05-17' });
      await page.goto(`${url}/journal`);
      await page.getByText('The light on the river').waitFor();
    },
  ],
];

/** @type {import('../lib/run-tests.mjs').Test[]} */
export const tests = [
  ...PAGES.flatMap(([name, open]) =>
    [false, true].map((dark) => ({
      name: `accessible: ${name}, ${dark ? 'dark' : 'light'}`,
      run: (/** @type {any} */ { browser, url }) =>
        browser.person({ dark, mayFail: /flow/ }, async (/** @type {Page} */ page) => {
          await open(page, url);
          await axeClean(page, name);
        }),
    })),
  ),
  {
    name: 'keyboard only: search, read, sign up, write, sign out',
    run: ({ browser, url }) =>
      browser.person({}, async (/** @type {Page} */ page) => {
        const person = personNew();
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
        await keyboard.type(person.email);
        await tabTo(page, page.getByLabel('Password', { exact: true }), 'the password field');
        await keyboard.type(person.password);
        await keyboard.press('Enter');
        await signedIn(page);

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
      browser.person({}, async (/** @type {Page} */ page) => {
        await page.goto(`${url}/countries/PT`);
        await page.getByRole('table').waitFor();
        await page.keyboard.press('Tab');
        await page.getByRole('link', { name: 'Skip to content' }).and(page.locator(':focus')).waitFor();
        await page.keyboard.press('Enter');
        await page.locator('main:focus').waitFor();
      }),
  },
  {
    name: 'nothing runs over the edge at 360 pixels',
    run: ({ browser, url }) =>
      browser.person({ width: 360, height: 740, mayFail: /flow/ }, async (/** @type {Page} */ page) => {
        for (const [name, open] of PAGES) {
          await open(page, url);
          const [wide, screen] = await page.evaluate(() => [
            document.documentElement.scrollWidth,
            document.documentElement.clientWidth,
          ]);
          if (wide > screen) throw new Error(`${name} is ${wide} pixels wide`);
          await page.context().clearCookies();
          await page.evaluate(() => {
            localStorage.clear();
            sessionStorage.clear();
          });
        }
      }),
  },
];
