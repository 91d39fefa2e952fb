// The browser of a run and the steps a person takes in it: opening the website, filling in the
// hosted pages by role and label, in English.
import { launchChromium } from './chromium.mjs';

/** @import { Page } from 'playwright-core' */
/** @import { IOAuthStrategy } from '@wix/sdk' */
/** @import { Credentials, Run } from './types.js' */

const STEP_LIMIT_MS = 15_000;

/** @typedef {Awaited<ReturnType<typeof openBrowser>>} Browser */
/** @typedef {Awaited<ReturnType<typeof openSite>>} Site   the website in a tab, and the steps on it */

/** @param {Run} run */
export async function openBrowser(run) {
  const browser = await launchChromium(run);

  return {
    close: () => browser.close(),

    /**
     * Runs `work` with a page of a person of their own (fresh cookies), standing on the website.
     * @template T
     * @param {(site: Site) => Promise<T>} work
     */
    async visit(work) {
      const context = await browser.newContext();
      context.setDefaultTimeout(STEP_LIMIT_MS);
      const page = await context.newPage();
      /** @type {string[]} */
      const problems = [];
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
      page.on('pageerror', (error) => problems.push(String(error)));
      try {
        return await work(await openSite(page, run));
      } catch (error) {
        const seen = await page
          .locator('body')
          .innerText({ timeout: 1000 })
          .catch(() => '');
        if (error instanceof Error) {
          error.message +=
            `\nbrowser at ${page.url()}\nshows: ${seen.slice(0, 400).replaceAll('\n', ' | ')}` +
            (problems.length ? `\nconsole: ${problems.slice(0, 5).join(' | ')}` : '');
        }
        throw error;
      } finally {
        await context.close();
      }
    },
  };
}

/** @param {Page} page @param {Run} run */
async function openSite(page, run) {
  const redirectPattern = new RegExp(`^${run.origin.replaceAll('.', '\\.')}/`);
  const site = {
    page,
    /** Opens the website and makes its client. @param {string} [path] */
    async open(path = '/') {
      await page.goto(run.origin + path);
      await site.ready();
    },
    async ready() {
      await page.waitForSelector('html[data-ready]', { state: 'attached' });
      await page.evaluate((clientId) => {
        window.site = window.conformance.client(clientId);
      }, run.clientId);
    },
    /** Prepares a sign-in and gives the address to go to; the verifier stays in the tab. @param {Parameters<IOAuthStrategy['getAuthUrl']>[1]} options */
    async authUrl(options) {
      return page.evaluate(
        async ({ redirectUri, options }) => {
          const { site } = window;
          const oauthData = site.auth.generateOAuthData(redirectUri, 'original');
          sessionStorage.setItem('oauthData', JSON.stringify(oauthData));
          return (await site.auth.getAuthUrl(oauthData, options)).authUrl;
        },
        { redirectUri: run.redirectUri, options },
      );
    },
    /** Waits until the browser is back on the website, then reads the result. @param {'fragment' | 'query'} mode */
    async returned(mode) {
      await page.waitForURL(redirectPattern, { waitUntil: 'commit' });
      await site.ready();
      return page.evaluate((mode) => window.site.auth.parseFromUrl(location.href, mode), mode);
    },
    /** Exchanges the code that came back; the client is signed in afterwards. @param {{ code: string, state: string }} result */
    async exchange(result) {
      return page.evaluate(async ({ code, state }) => {
        const { site } = window;
        const tokens = await site.auth.getMemberTokens(
          code,
          state,
          JSON.parse(sessionStorage.getItem('oauthData') ?? ''),
        );
        site.auth.setTokens(tokens);
        return tokens;
      }, result);
    },
    /** Fills in the hosted sign-in page. @param {Credentials} credentials */
    async signIn({ email, password }) {
      await page.getByLabel('Email', { exact: true }).fill(email);
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    },
    /** Goes from sign-in to sign-up and fills that in. @param {Credentials} credentials */
    async signUp({ email, password }) {
      const name = 'Create an account';
      await page.getByRole('link', { name }).or(page.getByRole('button', { name })).click();
      await page.getByRole('heading', { name: 'Create your account' }).waitFor();
      await page.getByLabel('Email', { exact: true }).fill(email);
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Create account', exact: true }).click();
    },
    /** Opens the link of an invitation and chooses a password. @param {string} setupUrl @param {string} password */
    async acceptInvitation(setupUrl, password) {
      await page.goto(setupUrl);
      await page.getByLabel(/^(new )?password$/i).fill(password);
      await page.getByRole('button', { name: 'Save password' }).click();
      await page.getByText('You are ready').or(page.getByText('Your password is set')).first().waitFor();
    },
  };
  return site;
}
