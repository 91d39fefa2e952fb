// Pictures of the pages for a person to look at: two widths, light and dark.
import { join } from 'node:path';
import { insertVisits, openJournal, removeVisit, visitIds } from '../lib/journal.mjs';
import { openSignIn, openSignUp, placesTable, searchBox, searchFor, signUp, title, writeVisit } from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Test } from '../lib/run-tests.mjs' */

/** @type {[string, (page: Page, url: string) => Promise<unknown>][]} */
const PAGES = [
  [
    'atlas-home',
    async (page, url) => {
      await page.goto(url);
      await page.getByRole('link', { name: 'Shanghai' }).first().waitFor();
      await page.getByRole('table', { name: 'Places by size' }).waitFor();
      await page.getByRole('table', { name: 'By region' }).waitFor();
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
    'atlas-search-similar',
    async (page, url) => {
      await page.goto(url);
      await searchBox(page).fill('new yrok');
      await page.getByRole('option').nth(1).waitFor();
    },
  ],
  [
    'atlas-places-found',
    async (page, url) => {
      await page.goto(`${url}/places?q=springfield`);
      await placesTable(page).waitFor();
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
      await placesTable(page).waitFor();
      await page.getByRole('table', { name: 'Places by size' }).waitFor();
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
      await openSignIn(page);
    },
  ],
  [
    'account-sign-up',
    async (page) => {
      await openSignUp(page);
    },
  ],
  [
    'account-error',
    async (page, url) => {
      await page.goto(`${url}/account/error?code=ODD`);
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
    },
  ],
  [
    'atlas-journal',
    async (page, url) => {
      await signUp(page, url);
      await searchFor(page, 'lisb', /Lisbon/);
      await writeVisit(page, {
        note: 'The light on the river in the evening, and the tram uphill.',
        day: '2024-05-17',
      });
      await page.goto(`${url}/journal`);
      await page.getByText('The light on the river').waitFor();
    },
  ],
  [
    'atlas-journal-not-connected',
    async (page) => {
      await page.route(/realtime/, (route) => route.abort());
      await page.evaluate(() => window.dispatchEvent(new Event('offline')));
      await page.getByText('Not connected.').last().waitFor();
    },
  ],
  [
    'atlas-journal-changed-elsewhere',
    async (page, url) => {
      await page.unroute(/realtime/);
      await openJournal(page, url);
      await page.getByRole('button', { name: /^Edit the visit/ }).click();
      const [id] = await insertVisits(page, [{ visitedOn: '2024-06-02', note: 'Blue tiles, and rain' }]);
      await page.getByText('Blue tiles, and rain').waitFor();
      await removeVisit(page, String(id));
      for (const visit of await visitIds(page)) await removeVisit(page, visit);
      await page.getByText('This visit was removed elsewhere meanwhile').waitFor();
    },
  ],
];

/** Pages with a connection that stays open, so that the network never rests. */
const live = /^atlas-journal(?!-visitor)/;

/** @type {Test[]} */
export const tests = [390, 1280].flatMap((width) =>
  [false, true].map((dark) => ({
    name: `pictures at ${width}, ${dark ? 'dark' : 'light'}`,
    run: ({ browser, url, shots }) =>
      browser.visit({ width, height: width < 600 ? 844 : 800, dark }, async (page) => {
        for (const [name, open] of PAGES) {
          await open(page, url);
          if (live.test(name)) await page.evaluate(() => document.fonts.ready);
          else await page.waitForLoadState('networkidle');
          await page.screenshot({
            path: join(shots, `${name}-${width}-${dark ? 'dark' : 'light'}.png`),
            fullPage: !name.startsWith('atlas-search'),
          });
        }
      }),
  })),
);
