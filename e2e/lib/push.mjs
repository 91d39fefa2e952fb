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
    /** Delivers a message, as it is decrypted. @param {unknown} message */
    async deliver(message) {
      const registrationId = present(ids.get(home), 'the worker');
      const data = JSON.stringify(message);
      await tools.send('ServiceWorker.deliverPushMessage', { origin: new URL(home).origin, registrationId, data });
    },
    /** The notification that is shown, once it has this beginning; closed, as by a click. @param {string} beginning */
    shown: (beginning) =>
      page.evaluate(async ([scope, start]) => {
        const registration = await navigator.serviceWorker.getRegistration(scope);
        for (let tries = 0; tries < 100; tries++) {
          const all = (await registration?.getNotifications()) ?? [];
          const found = all.find((it) => it.title.startsWith(start));
          if (found) {
            const { title, body, dir, data } = found;
            found.close();
            return { title, body, dir, token: String(data.token) };
          }
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        throw new Error(`no notification that begins with ${start}`);
      }, /** @type {const} */ ([home, beginning])),
  };
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
