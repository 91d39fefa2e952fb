// What happens to a member's visits elsewhere: through the interface, with the tokens of a page.

/** @import { Page } from 'playwright-core' */

/** @typedef {{ visitedOn: string, note: string }} Visit in Lisbon */

/** Opens the journal and waits until it is live. @param {Page} page @param {string} url of Atlas */
export async function openJournal(page, url) {
  const ready = stream(page);
  await page.goto(`${url}/journal`);
  await ready;
}

/** Waits for the answer that stays open. @param {Page} page */
export const stream = (page) => page.waitForResponse((it) => it.url().includes('/_api/realtime/') && it.ok());

/** Writes visits; gives their ids. @param {Page} page @param {Visit[]} visits @returns {Promise<string[]>} */
export async function insertVisits(page, visits) {
  const ids = [];
  for (const visit of visits) {
    const data = { city: '2267057', country: 'PT', ...visit };
    const { dataItem } = await call(page, '/v2/items', { dataCollectionId: 'journal', dataItem: { data } });
    ids.push(String(dataItem?.id));
  }
  return ids;
}

/** @param {Page} page @param {string} id @param {Visit} visit */
export async function changeVisit(page, id, visit) {
  const data = { _id: id, city: '2267057', country: 'PT', ...visit };
  await call(page, '/v2/items/update', { dataCollectionId: 'journal', dataItem: { id, data } });
}

/** @param {Page} page @param {string} id */
export async function removeVisit(page, id) {
  await call(page, '/v2/items/remove', { dataCollectionId: 'journal', dataItemId: id });
}

/** The ids of all visits. @param {Page} page @returns {Promise<string[]>} */
export async function visitIds(page) {
  const { dataItems } = await call(page, '/v2/items/query', { dataCollectionId: 'journal', query: {} });
  return (dataItems ?? []).map(({ id }) => id);
}

/**
 * @param {Page} page
 * @param {string} path
 * @param {object} body
 * @returns {Promise<{ dataItem?: { id: string }, dataItems?: { id: string }[] }>}
 */
async function call(page, path, body) {
  const token = await page.evaluate(() => {
    const key = Object.keys(localStorage).find((each) => each.startsWith('stoa.tokens.'));
    return JSON.parse(localStorage.getItem(key ?? '') ?? '{}')?.accessToken?.value;
  });
  const answer = await page.request.post(new URL(path, page.url()).href, {
    headers: { authorization: token },
    data: body,
  });
  if (!answer.ok()) throw new Error(`${path} answered ${answer.status()}: ${await answer.text()}`);
  return answer.json();
}
