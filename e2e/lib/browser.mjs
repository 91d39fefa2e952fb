// One Chromium for the run, and pages with cookies of their own in it.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

/** @import { Page } from 'playwright-core' */

/** @typedef {Awaited<ReturnType<typeof launchBrowser>>} Browser */

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Nothing on a page may come from the network outside.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];
const STEP_LIMIT_MS = 15_000;
/** Chromium may never say that a window is closed; what that still holds ends with the browser. */
const CLOSE_LIMIT_MS = 15_000;

export async function launchBrowser() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(`no browser at ${executablePath}: install the package chromium, or set CHROMIUM`);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  return {
    close: () => closed(browser),

    /**
     * Runs `work` with a page that has cookies of its own. A script error or a failed request on it, or on another page
     * that `work` opens in its context, fails it.
     * @template T
     * @param {{ width?: number, height?: number, dark?: boolean, mayFail?: RegExp }} look
     *   `mayFail`: addresses whose refusal is part of the story
     * @param {(page: Page) => Promise<T>} work
     */
    async visit({ width = 1280, height = 800, dark = false, mayFail }, work) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
        reducedMotion: 'reduce',
        locale: 'en-GB',
      });
      context.setDefaultTimeout(STEP_LIMIT_MS);
      /** @type {string[]} */
      const problems = [];
      context.on('weberror', (error) => problems.push(`script error: ${error.error()}`));
      context.on('console', (message) => {
        const isRefusal = /Failed to load resource/.test(message.text());
        if (message.type() === 'error' && !isRefusal) problems.push(`console: ${message.text()}`);
      });
      context.on('response', (response) => {
        if (response.status() >= 400 && !mayFail?.test(response.url())) {
          problems.push(`${response.status()} for ${response.request().method()} ${response.url()}`);
        }
      });
      const page = await context.newPage();
      try {
        const result = await work(page);
        if (problems.length > 0) throw new Error('the page had problems');
        return result;
      } catch (error) {
        const seen = await page
          .locator('body')
          .innerText({ timeout: 1000 })
          .catch(() => '');
        if (error instanceof Error) {
          error.message +=
            `\nat ${page.url()}\nshows: ${seen.slice(0, 500).replaceAll('\n', ' | ')}` +
            (problems.length ? `\n${problems.slice(0, 6).join('\n')}` : '');
        }
        throw error;
      } finally {
        await closed(context);
      }
    },
  };
}

/**
 * Closes something of the browser, and waits for that as long as it makes sense.
 * @param {{ close(): Promise<void> }} it
 */
async function closed(it) {
  const limit = new AbortController();
  await Promise.race([it.close(), sleep(CLOSE_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => undefined)]);
  limit.abort();
}
