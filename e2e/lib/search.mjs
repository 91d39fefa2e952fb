// The index of words follows the import of a new site, and takes a while for all places.
import { setTimeout as sleep } from 'node:timers/promises';
import { member } from '../../conformance/lib/parse.mjs';

const LIMIT_MS = 120_000;

/** Waits until a search finds every place. @param {string} url of the website Atlas */
export async function waitForSearch(url) {
  const settings = await json(await fetch(`${url}/_api/site/v1/public-settings`));
  const grant = { clientId: member(settings, 'clientId'), grantType: 'anonymous' };
  const headers = { 'content-type': 'application/json' };
  const tokens = await json(
    await fetch(`${url}/oauth2/token`, { method: 'POST', headers, body: JSON.stringify(grant) }),
  );
  const authorization = String(member(tokens, 'access_token'));
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; await sleep(200)) {
    const lag = await json(await fetch(`${url}/_api/search/v1/lag`, { headers: { authorization } }));
    if (member(lag, 'isCurrent') === true) return;
  }
  throw new Error(`the index of words is not current after ${LIMIT_MS} ms`);
}

/** @param {Response} response @returns {Promise<unknown>} */
async function json(response) {
  if (!response.ok) throw new Error(`${response.status} from ${response.url}`);
  return response.json();
}
