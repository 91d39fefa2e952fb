// Notifications of a browser, as its own tools bring them: no service of its maker is asked.
import { present } from '../../conformance/lib/parse.mjs';

/** @import { Page } from 'playwright-core' */

/**
 * Starts the worker of the account pages that a page is on, as the page itself does where its browser has a service for notifications.
 * @param {Page} page
 */
export async function startWorker(page) {
  const tools = await page.context().newCDPSession(page);
  /** @type {Map<string, string>} */
  const ids = new Map();
  tools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    for (const it of registrations) ids.set(it.scopeURL, it.registrationId);
  });
  await tools.send('ServiceWorker.enable');
  const home = new URL(page.url()).href.replace(/[^/]*$/, '');
  await page.context().grantPermissions(['notifications'], { origin: new URL(home).origin });
  await page.evaluate(async (scope) => {
    await navigator.serviceWorker.register(`${scope}push.js`, { scope });
    await navigator.serviceWorker.ready;
  }, home);
  return {
    /** Where the account pages of the site are. */
    home,
    /**
     * Delivers a message, as it is decrypted, and answers the notification that it shows, closed, as by a click. One that shows nothing in
     * five seconds is delivered again, as services do; a second notification takes the place of the first.
     * @param {unknown} message @param {string} beginning of the title
     */
    async bring(message, beginning) {
      const registrationId = present(ids.get(home), 'the worker');
      const data = JSON.stringify(message);
      for (let tries = 0; tries < 4; tries++) {
        await tools.send('ServiceWorker.deliverPushMessage', { origin: new URL(home).origin, registrationId, data });
        const shown = await notification(page, home, beginning);
        if (shown !== null) return shown;
      }
      throw new Error(`no notification that begins with ${beginning}`);
    },
  };
}

/**
 * The notification of a worker that has this beginning, once it is shown; closed then.
 * @param {Page} page @param {string} home @param {string} beginning
 */
function notification(page, home, beginning) {
  return page.evaluate(async ([scope, start]) => {
    const registration = await navigator.serviceWorker.getRegistration(scope);
    for (let tries = 0; tries < 50; tries++) {
      const all = (await registration?.getNotifications()) ?? [];
      const found = all.find((it) => it.title.startsWith(start));
      if (found) {
        const { title, body, dir, data } = found;
        found.close();
        return { title, body, dir, token: String(data.token) };
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return null;
  }, /** @type {const} */ ([home, beginning]));
}

/** The next code that the worker hands to a page, as one reads it that waits for it. @param {Page} page */
export async function codeFromWorker(page) {
  const handed = await page.evaluateHandle(() => {
    const code = new Promise((resolve) => {
      navigator.serviceWorker.addEventListener('message', ({ data }) => resolve(data.code), { once: true });
    });
    return { code };
  });
  return () => handed.evaluate(async ({ code }) => String(await code));
}

/**
 * A call of the member who is signed in on a page, by the token that the page is given.
 * @param {Page} page @param {string} path @param {object} [body] without one something is read
 */
export async function callAsMember(page, path, body) {
  return page.evaluate(
    async ([to, text]) => {
      const json = { 'content-type': 'application/json' };
      const opened = await fetch('/_api/account/v1/member', { method: 'POST', headers: json, body: '{}' });
      const headers = { ...json, authorization: (await opened.json()).access_token };
      const answer = await fetch(to, text === null ? { headers } : { method: 'POST', headers, body: text });
      if (!answer.ok) throw new Error(`${to}: ${answer.status} ${await answer.text()}`);
      return /** @type {unknown} */ (await answer.json());
    },
    /** @type {const} */ ([`/_api/identity/v1/${path}`, body === undefined ? null : JSON.stringify(body)]),
  );
}
