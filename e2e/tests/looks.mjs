// @ts-check
// Pictures of the pages for a person to look at: two widths, light and dark.
import { join } from 'node:path';
import { searchBox, searchFor, signInOpen, signUp, signUpOpen, title, visitWrite } from '../lib/steps.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** @type {[string, (page: Page, url: string) => Promise<unknown>][]} */
const PAGES = [
  [
    'atlas-home',
    async (page, url) => {
      await page.goto(url);
      await page.getByRole('link', { name: 'Shanghai' }).first().waitFor();
    },
  ],
  [
    'atlas-search',
    async (page) => {
      await searchBox(page).fill('san');
      await page.getByRole('option').nth(6).waitFor();
    },
  ],
  [
    'atlas-countries',
    async (page, url) => {
      await page.goto(`${url}/countries`);
      await page.getByRole('table').waitFor();
    },
  ],
  [
    'atlas-country',
    async (page, url) => {
      await page.goto(`${url}/countries/PT`);
      await page.getByRole('table').waitFor();
    },
  ],
  [
    'atlas-city',
    async (page, url) => {
      await page.goto(url);
      await searchFor(page, 'lisb', /Lisbon/);
      await title(page, /Lisbon/).waitFor();
      await page.getByRole('link', { name: /Amadora/ }).waitFor();
    },
  ],
  [
    'atlas-journal-visitor',
    async (page, url) => {
      await page.goto(`${url}/journal`);
      await page.getByText('Keep a journal of your travels').waitFor();
    },
  ],
  [
    'account-sign-in',
    async (page, url) => {
      await page.goto(url);
      await signInOpen(page);
    },
  ],
  [
    'account-sign-up',
    async (page) => {
      await signUpOpen(page);
    },
  ],
  [
    'atlas-journal',
    async (page, url) => {
      await signUp(page, url);
      await searchFor(page, 'lisb', /Lisbon/);
      await visitWrite(page, {
        note: 'The light on the river in the evening, and the tram uphill.',
        day: '2024-05-17',
      });
      await page.goto(`${url}/journal`);
      await page.getByText('The light on the river').waitFor();
    },
  ],
];

/** @type {import('../lib/run-tests.mjs').Test[]} */
export const tests = [390, 1280].flatMap((width) =>
  [false, true].map((dark) => ({
    name: `pictures at ${width}, ${dark ? 'dark' : 'light'}`,
    run: (/** @type {any} */ { browser, url, shots }) =>
      browser.person({ width, height: width < 600 ? 844 : 800, dark }, async (/** @type {Page} */ page) => {
        for (const [name, open] of PAGES) {
          await open(page, url);
          await page.waitForLoadState('networkidle');
          await page.screenshot({
            path: join(shots, `${name}-${width}-${dark ? 'dark' : 'light'}.png`),
            fullPage: name !== 'atlas-search',
          });
        }
      }),
  })),
);
