// What a person does on Atlas and on the account pages, by role and label, in English.
import { randomBytes } from 'node:crypto';
import assert from 'node:assert/strict';

/** @import { Locator, Page } from 'playwright-core' */

/** @typedef {{ email: string, password: string }} Credentials */

/** Of an account that is not there yet. @returns {Credentials} */
export const newCredentials = () => ({
  email: `person-${randomBytes(5).toString('hex')}@example.com`,
  password: `pass-${randomBytes(9).toString('base64url')}`,
});

/** @param {Page} page */
export const searchBox = (page) => page.getByRole('combobox', { name: 'Search countries and places' });

/** The table of places, beside those of figures. @param {Page} page */
export const placesTable = (page) => page.getByRole('table', { name: /^Places( in .*)?$/ });

/**
 * The button that lets an application do something: it takes a press once the page was seen for half a second.
 * @param {Page} page @param {string} name
 */
export async function allowing(page, name) {
  const button = page.getByRole('button', { name, disabled: false });
  await button.waitFor();
  return button;
}

/** The page's own heading. @param {Page} page @param {string | RegExp} name */
export const title = (page, name) => page.getByRole('heading', { level: 1, name });

/** Types into the search and chooses the suggestion. @param {Page} page @param {string} typed @param {RegExp} option */
export async function searchFor(page, typed, option) {
  await searchBox(page).fill(typed);
  await page.getByRole('option', { name: option }).first().click();
}

/** From Atlas to the account pages. @param {Page} page */
export async function openSignIn(page) {
  await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Password', { exact: true }).waitFor();
}

/** From the sign-in page to the sign-up page. @param {Page} page */
export async function openSignUp(page) {
  const name = 'Create an account';
  await page.getByRole('link', { name }).or(page.getByRole('button', { name })).click();
  await title(page, 'Create your account').waitFor();
}

/** @param {Page} page @param {Credentials} credentials @param {string} button */
export async function sendCredentials(page, { email, password }, button) {
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: button, exact: true }).click();
}

/** Waits for Atlas to show that a member is signed in. @param {Page} page */
export const waitUntilSignedIn = (page) => page.getByRole('banner').getByRole('button', { name: 'Sign out' }).waitFor();

/** Makes an account from Atlas and comes back to it. @param {Page} page @param {string} url of Atlas */
export async function signUp(page, url) {
  const credentials = newCredentials();
  await page.goto(url);
  await openSignIn(page);
  await openSignUp(page);
  await sendCredentials(page, credentials, 'Create account');
  await waitUntilSignedIn(page);
  return credentials;
}

/** Signs in from Atlas and comes back to it. @param {Page} page @param {string} url of Atlas @param {Credentials} credentials */
export async function signIn(page, url, credentials) {
  await page.goto(url);
  await openSignIn(page);
  await sendCredentials(page, credentials, 'Sign in');
  await waitUntilSignedIn(page);
}

/** Signs out, through whichever account pages that leads. @param {Page} page */
export async function signOut(page) {
  await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).waitFor();
}

/** Writes a visit on the page of a place. @param {Page} page @param {{ note: string, day: string }} visit `day` as YYYY-MM-DD */
export async function writeVisit(page, { note, day }) {
  const add = 'Add to my journal';
  await page
    .getByRole('link', { name: add })
    .or(page.getByRole('button', { name: add }))
    .click();
  await page.getByLabel('When were you there?').fill(day);
  await page.getByLabel(/^What do you want to remember\?/).fill(note);
  await page.getByRole('button', { name: 'Save visit' }).click();
  await page.getByText(/^You wrote about/).waitFor();
}

/** Presses Tab until `reached` holds the focus. @param {Page} page @param {Locator} reached @param {string} what */
export async function tabTo(page, reached, what) {
  for (let i = 0; i < 80; i += 1) {
    if (await reached.evaluate((element) => element === document.activeElement).catch(() => false)) {
      const visible = await reached.evaluate((element) => {
        const style = getComputedStyle(element);
        const around = element.parentElement ?? element;
        // The cells of a code show the focus in the place of their field.
        const cells = element.matches('[autocomplete="one-time-code"]') ? around.querySelectorAll('[data-active]') : [];
        const shows = [around, ...cells];
        return (
          element.matches(':focus-visible') &&
          (style.outlineStyle !== 'none' ||
            style.boxShadow !== 'none' ||
            shows.some((it) => getComputedStyle(it).outlineStyle !== 'none'))
        );
      });
      assert.ok(visible, `the focus on ${what} cannot be seen`);
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${what}`);
}

/** Fails when the page can be scrolled sideways. @param {Page} page @param {string} what */
export async function checkWidth(page, what) {
  const [wide, screen] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  if (wide > screen) throw new Error(`${what} is ${wide} px wide on a screen of ${screen} px`);
}
