// What stories about accounts share: how a page looks, and the codes that were sent.
import { messagesTo } from '../../conformance/lib/mail.mjs';
import { checkAccessibility } from './axe.mjs';
import { checkWidth } from './steps.mjs';

/** @import { Page } from 'playwright-core' */

/** Both colour schemes: nothing that axe finds, nothing that is wider than the window. @param {Page} page @param {string} shot */
export async function looks(page, shot) {
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    await page.emulateMedia({ colorScheme });
    await checkAccessibility(page, `${shot}, ${colorScheme}`);
    await checkWidth(page, shot);
    await page.screenshot({ path: `${shot}-${colorScheme}.png`, fullPage: true });
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
