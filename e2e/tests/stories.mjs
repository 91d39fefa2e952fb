// What people come to Atlas for.
import assert from 'node:assert/strict';
import {
  newCredentials,
  openSignIn,
  openSignUp,
  placesTable,
  searchBox,
  searchFor,
  sendCredentials,
  signOut,
  signUp,
  title,
  waitUntilSignedIn,
  writeVisit,
} from '../lib/steps.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { Test, World } from '../lib/run-tests.mjs' */

/** @param {Page} page */
const firstPlace = (page) => placesTable(page).getByRole('rowheader').first().innerText();

/** What the search box suggests for a text, once it has the answer. @param {Page} page @param {string} typed */
async function suggestions(page, typed) {
  await searchBox(page).fill(typed);
  await page.getByText(/^(Nothing is called .*: )?\d+ suggestions?$/).waitFor();
  return page.getByRole('search').getByRole('option').allInnerTexts();
}

/**
 * What a person types, and the place that they mean: its name, and what tells it from others.
 * @type {[typed: string, name: string, whereabouts: string][]}
 */
const MEANT = [
  ['東京', 'Tokyo', 'Japan'],
  ['москва', 'Moscow', 'Russia'],
  ['munich', 'Munich', 'Germany'],
  ['sao paulo', 'São Paulo', 'Brazil'],
  ['paulo', 'São Paulo', 'Brazil'],
  ['york', 'York', 'England'],
  ['new yrok', 'New York City', 'United States'],
  ['paris texas', 'Paris', 'Texas'],
  ['washington', 'Washington, D.C.', 'United States'],
];

/** From now on questions to the content wait for `release`. @param {Page} page */
async function holdQueries(page) {
  /** @type {() => void} */
  let release = () => undefined;
  /** @type {Promise<void>} */
  const released = new Promise((resolve) => (release = resolve));
  await page.route(/items\/(query|search)/, async (route) => {
    await released;
    // What was given up meanwhile needs no answer.
    await route.continue().catch(() => undefined);
  });
  return { release };
}

/** @type {Test[]} */
export const tests = [
  {
    name: 'search on the home page leads to a city',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(url);
        await title(page, 'Every place has a name').waitFor();
        await searchFor(page, 'zuri', /^.{0,8}Zürich/);
        await title(page, /Zürich/).waitFor();
        await page.getByText('Switzerland').first().waitFor();
        assert.match(page.url(), /\/places\//);
      }),
  },
  {
    name: 'search on the home page leads to a country',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(url);
        await searchFor(page, 'portu', /Portugal/);
        await title(page, /Portugal/).waitFor();
        await page.getByText('Lisbon').first().waitFor();
        assert.ok(page.url().endsWith('/countries/PT'));
      }),
  },
  ...MEANT.map(([typed, name, whereabouts]) => ({
    name: `“${typed}” finds first what is meant`,
    run: (/** @type {World} */ { browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(url);
        const [suggested] = await suggestions(page, typed);
        await page.goto(`${url}/places?q=${encodeURIComponent(typed)}`);
        const listed = await placesTable(page).getByRole('row').nth(1).innerText();
        for (const first of [suggested, listed]) {
          assert.ok(first?.includes(name) && first.includes(whereabouts), `${first} is not ${name}, ${whereabouts}`);
        }
      }),
  })),
  {
    name: 'a name with an umlaut is found alike without it and written out',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(url);
        const plain = await suggestions(page, 'munchen');
        const written = await suggestions(page, 'muenchen');
        assert.ok(plain.length > 1 && plain[0]?.includes('München'), plain.join(' | '));
        assert.deepEqual(written.slice(0, -1), plain.slice(0, -1));
      }),
  },
  {
    name: 'a country is found by its name in another language',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(url);
        await searchFor(page, 'deutschland', /Germany/);
        await title(page, /Germany/).waitFor();
      }),
  },
  {
    name: 'places of the same name say what tells them apart',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(`${url}/places?q=springfield`);
        await placesTable(page).waitFor();
        const rows = await placesTable(page).getByRole('row').all();
        assert.ok(rows.length > 10, `${rows.length} rows`);
        // Name with position, region and country; not the population, which tells no one which place is meant.
        const told = await Promise.all(
          rows.slice(1).map(async (row) => {
            const cells = [row.getByRole('rowheader'), row.getByRole('cell').nth(0), row.getByRole('cell').nth(1)];
            return (await Promise.all(cells.map((cell) => cell.innerText()))).join(' | ');
          }),
        );
        assert.deepEqual(told, [...new Set(told)]);
      }),
  },
  {
    name: 'a search keeps its pages and its order in the address',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(`${url}/places?q=san`);
        await page.getByText('More than 50 places').waitFor();
        const seen = new Set(await placesTable(page).getByRole('row').allInnerTexts());
        const pages = page.getByRole('navigation', { name: 'Pages' });
        await pages.getByRole('link', { name: 'Next' }).click();
        await page.getByText('51–100', { exact: true }).waitFor();
        assert.match(page.url(), /q=san&page=2/);
        await page.reload();
        await page.getByText('51–100', { exact: true }).waitFor();
        await placesTable(page).waitFor();
        const [head, ...next] = await placesTable(page).getByRole('row').allInnerTexts();
        assert.ok(head);
        assert.deepEqual(
          next.filter((row) => seen.has(row)),
          [],
        );
        await placesTable(page).getByRole('button', { name: 'Place' }).click();
        await page.waitForURL(/sort=name/);
        await page.getByRole('link', { name: 'Best matches first' }).click();
        await page.waitForURL(/q=san$/);
      }),
  },
  {
    name: 'home and country pages show figures, and say so when they cannot',
    run: ({ browser, url }) =>
      browser.visit({ mayFail: /aggregate-pipeline/ }, async (page) => {
        await page.goto(url);
        const regions = page.getByRole('table', { name: 'By region' });
        await regions.getByRole('row', { name: /^Asia .* Shanghai$/ }).waitFor();
        await page
          .getByRole('table', { name: 'Places by size' })
          .getByRole('row', { name: /^Together/ })
          .waitFor();
        await page.goto(`${url}/countries/PT`);
        const figures = page.getByRole('region', { name: 'In figures' });
        await figures.getByRole('link', { name: 'Lisbon' }).waitFor();
        await figures.getByRole('row', { name: /^100,000 to 1m/ }).waitFor();
        await page.goto(`${url}/countries/BV`);
        await figures.getByText('There are no figures').waitFor();
        await page.route(/aggregate-pipeline/, (route) => route.fulfill({ status: 400, json: {} }));
        await page.goto(`${url}/countries/ES`);
        await figures.getByRole('button', { name: 'Try again' }).waitFor();
        await page.unroute(/aggregate-pipeline/);
        await figures.getByRole('button', { name: 'Try again' }).click();
        await figures.getByRole('link', { name: 'Madrid' }).waitFor();
      }),
  },
  {
    name: 'a search without a hit says so',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(url);
        await searchBox(page).fill('qqqqxx');
        await page.getByText('Nothing is called “qqqqxx”').waitFor();
      }),
  },
  {
    name: 'suggestions fit the text as it is now, also while their answer is on its way',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(url);
        await searchBox(page).fill('lis');
        await page
          .getByRole('option', { name: /Lisbon/ })
          .first()
          .waitFor();
        const answers = await holdQueries(page);
        await searchBox(page).fill('lisb');
        await page.getByRole('option', { name: /Liss/ }).waitFor({ state: 'detached' });
        await page
          .getByRole('option', { name: /Lisbon/ })
          .first()
          .waitFor();
        await searchBox(page).fill('paris');
        await page.getByText('Searching').waitFor();
        assert.equal(await page.getByRole('search').getByRole('option').count(), 0);
        await searchBox(page).press('Enter');
        answers.release();
        await page
          .getByRole('option', { name: /^.{0,8}Paris/ })
          .first()
          .waitFor();
        assert.ok(page.url() === url || page.url() === `${url}/`, page.url());
      }),
  },
  {
    name: 'the table of places shows no rows of the filter before',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(`${url}/places`);
        await page.getByRole('rowheader', { name: 'Shanghai' }).waitFor();
        const answers = await holdQueries(page);
        const filter = page.getByRole('main').getByRole('searchbox');
        await filter.fill('zuri');
        await page.waitForURL(/q=zuri/);
        await page.getByRole('rowheader', { name: 'Shanghai' }).waitFor({ state: 'detached' });
        answers.release();
        await page
          .getByRole('rowheader', { name: /Zürich/ })
          .first()
          .waitFor();
      }),
  },
  {
    name: 'a country is paged forward and back, and the address keeps the page',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(`${url}/countries`);
        await page.getByRole('table').getByRole('link', { name: 'Portugal' }).click();
        await page.getByText(/^1–50 of [\d,]+$/).waitFor();
        const first = await firstPlace(page);
        assert.match(first, /Lisbon/);
        const pages = page.getByRole('navigation', { name: 'Pages' });
        await pages.getByRole('link', { name: 'Next' }).click();
        await page.getByText(/^51–100 of /).waitFor();
        assert.match(page.url(), /page=2/);
        await page.getByRole('rowheader', { name: first, exact: true }).waitFor({ state: 'detached' });
        await page.reload();
        await page.getByText(/^51–100 of /).waitFor();
        await pages.getByRole('link', { name: 'Next' }).click();
        await page.getByText(/^101–150 of /).waitFor();
        await page.goBack();
        await page.getByText(/^51–100 of /).waitFor();
        await pages.getByRole('link', { name: 'Previous' }).click();
        await page.getByText(/^1–50 of /).waitFor();
        // Rows of the page before stay until the new ones are there.
        await page.getByRole('rowheader', { name: first, exact: true }).waitFor();
        assert.equal(await firstPlace(page), first);
      }),
  },
  {
    name: 'a place of a country opens, and its address can be shared',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(`${url}/countries/JP`);
        await page.getByRole('table').getByRole('link', { name: 'Tokyo', exact: true }).click();
        await title(page, /Tokyo/).waitFor();
        const address = page.url();
        await page.reload();
        await title(page, /Tokyo/).waitFor();
        await browser.visit({}, async (other) => {
          await other.goto(address);
          await title(other, /Tokyo/).waitFor();
        });
      }),
  },
  {
    name: 'an address that leads nowhere says so',
    run: ({ browser, url }) =>
      browser.visit({ mayFail: /no-such|wix-data|\/items/ }, async (page) => {
        for (const path of ['/no-such-page', '/countries/XX', '/places/no-such-place']) {
          await page.goto(url + path);
          await page.getByText('There is nothing here').first().waitFor();
        }
      }),
  },
  {
    name: 'a new member writes a visit, finds it after a reload, and it is gone from sight after signing out',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        const credentials = await signUp(page, url);
        await searchFor(page, 'lisb', /Lisbon/);
        const note = `The light on the river, ${credentials.email}`;
        await writeVisit(page, { note, day: '2024-05-17' });
        await page.goto(`${url}/journal`);
        await page.getByText(note).waitFor();
        await page.reload();
        await page.getByText(note).waitFor();
        await signOut(page);
        await page.goto(`${url}/journal`);
        await page.getByText('Keep a journal of your travels').waitFor();
        assert.equal(await page.getByText(note).count(), 0);

        await browser.visit({}, async (other) => {
          await signUp(other, url);
          await other.goto(`${url}/journal`);
          await other.getByText('Your first visit goes here').waitFor();
          assert.equal(await other.getByText(note).count(), 0);
        });

        await openSignIn(page);
        await sendCredentials(page, credentials, 'Sign in');
        await waitUntilSignedIn(page);
        await page.goto(`${url}/journal`);
        await page.getByText(note).waitFor();
      }),
  },
  {
    name: 'signing in leads back to the page it was begun on',
    run: ({ browser, url }) =>
      browser.visit({}, async (page) => {
        await page.goto(`${url}/countries/PT?page=2`);
        await openSignIn(page);
        await openSignUp(page);
        await sendCredentials(page, newCredentials(), 'Create account');
        await waitUntilSignedIn(page);
        await page.getByText(/^51–100 of /).waitFor();
      }),
  },
  {
    name: 'a wrong password is said at the form, which keeps what was typed',
    run: ({ browser, url }) =>
      browser.visit({ mayFail: /flow/ }, async (page) => {
        const credentials = newCredentials();
        await page.goto(url);
        await openSignIn(page);
        await sendCredentials(page, credentials, 'Sign in');
        await page.getByText('The email or password does not match').first().waitFor();
        assert.equal(await page.getByLabel('Email', { exact: true }).inputValue(), credentials.email);
      }),
  },
  {
    name: 'sign-up says what is wrong at the field',
    run: ({ browser, url }) =>
      browser.visit({ mayFail: /flow/ }, async (page) => {
        const credentials = await signUp(page, url);
        await signOut(page);
        await openSignIn(page);
        await openSignUp(page);
        await sendCredentials(page, credentials, 'Create account');
        await page.getByText('There is an account with this email already').first().waitFor();
        await sendCredentials(page, { ...newCredentials(), password: 'password' }, 'Create account');
        await page.getByText('This password is too well known').first().waitFor();
        assert.equal(await page.getByLabel('Password', { exact: true }).getAttribute('aria-invalid'), 'true');
      }),
  },
];
