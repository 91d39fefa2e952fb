// Fills a site with some of everything that calls are about, and gets tokens of every kind of caller, so that requests
// drawn by chance meet what is there.
import { text } from '../../conformance/lib/parse.mjs';

/** @typedef {import('../../conformance/lib/stoa.mjs').Stoa} Stoa */

/** How many of each thing there are: half of them are there to be ended. */
const MANY = 20;
const PASSWORD = 'correct horse battery';

/** What must be there before the server is. @param {Stoa} stoa */
export async function createSite(stoa) {
  await stoa.command('site', 'create', '--name', 'Drawn');
  const where = ['--redirect-uri', 'http://localhost/callback', '--origin', 'http://localhost'];
  const client = text(await stoa.command('client', 'create', '--name', 'Website', ...where), 'clientId');
  const key = text(await stoa.command('key', 'create', '--name', 'Drawn'), 'apiKey');
  return { client, key };
}

/**
 * @param {Stoa} stoa
 * @param {string} url
 * @param {{ client: string, key: string }} site
 * @param {number} number what chance begins with
 */
export async function seed(stoa, url, { client, key }, number) {
  const post = (/** @type {string} */ path, /** @type {object} */ body, token = key) => call(url, path, body, token);
  /** @template T @param {(n: number) => Promise<T>} make @returns {Promise<T[]>} */
  const some = async (make) => {
    const made = [];
    for (let n = 0; n < MANY; n += 1) made.push(await make(n));
    return made;
  };

  const { cookies, owner } = await createOwner(stoa, url);
  const visitor = async () =>
    text(await post('/oauth2/token', { clientId: client, grantType: 'anonymous' }, ''), 'access_token');
  const registered = await some((n) => register(post, visitor, key, `member${n}@example.org`));
  const tokens = registered.map((it) => it.token);
  for (const token of tokens) {
    await post('/members/v1/members/join-community', {}, token);
    await post('/members/v2/abouts', { memberAbout: { content: { nodes: [] } } }, token);
  }
  const [first, second] = registered;
  const reason = { category: 'SPAM', description: 'drawn' };
  await post('/members/v1/member-reports', { memberReport: { reportedMemberId: second.id, reason } }, first.token);

  const others = await some(async (n) =>
    inner(await post('/members/v1/members', { member: { loginEmail: `other${n}@example.org` } }), 'member'),
  );
  const badges = await some(async (n) =>
    inner(await post('/badges/v4/badges', { badge: { title: `Badge ${n}` } }), 'badge'),
  );
  const assignments = await some(async (n) => {
    const badgeAssignment = { badgeId: badges[0], memberId: registered[n].id };
    return inner(await post('/badges/v4/assignments', { badgeAssignment }), 'badgeAssignment');
  });
  const roles = await some(async (n) => {
    await post('/members/v1/roles/definitions', { roleKey: `role${n}`, roleTitle: `Role ${n}`, blockable: true });
    return `role${n}`;
  });
  const fields = await some(async (n) => {
    const field = { name: `Field ${n}`, fieldType: 'TEXT', defaultPrivacy: 'PUBLIC' };
    const id = inner(await post('/members/v1/custom-fields', { field }), 'field');
    await post('/members/v1/custom-fields-applications', { application: { customFieldId: id } });
    return id;
  });
  const items = Array.from({ length: 4 * MANY }, (_, n) => `item${n}`);
  const collections = await some((n) => createCollection(post, `things${n}`, items));
  const flows = await some(async () =>
    text(await call(url, '/_api/account/v1/flows', { kind: 'SIGN_IN' }, '', cookies), 'token'),
  );

  return {
    seed: number,
    tokens: {
      app: [key],
      owner: [owner],
      member: tokens.slice(0, MANY / 2),
      leaver: tokens.slice(MANY / 2),
      visitor: [await visitor()],
    },
    cookies,
    pools: {
      assignment: assignments,
      badge: badges,
      client: [client],
      collection: collections,
      field: fields,
      flow: flows,
      index: ['first'],
      item: items,
      key: ['t', 'n'],
      // Those who have tokens are asked about, the others may be ended.
      member: [...registered.slice(0, MANY / 2).map((it) => it.id), ...others.slice(MANY / 2)],
      reference: ['many'],
      role: roles,
    },
  };
}

/** @param {(path: string, body: object, token?: string) => Promise<unknown>} post @param {string} id @param {string[]} items */
async function createCollection(post, id, items) {
  const open = { itemRead: 'ANYONE', itemInsert: 'ANYONE', itemUpdate: 'ANYONE', itemRemove: 'ANYONE' };
  const many = {
    key: 'many',
    type: 'MULTI_REFERENCE',
    typeMetadata: { multiReference: { referencedCollectionId: id } },
  };
  const fields = [{ key: 't', type: 'TEXT' }, { key: 'n', type: 'NUMBER' }, many];
  await post('/v2/collections', { collection: { id, displayName: id, dataPermissions: open, fields } });
  const dataItems = items.map((_id, n) => ({ data: { _id, t: `text ${n}`, n } }));
  await post('/v2/bulk/items/insert', { dataCollectionId: id, dataItems });
  await post('/v2/indexes', { dataCollectionId: id, index: { name: 'first', fields: [{ path: 'n' }] } });
  return id;
}

/**
 * A member with a token.
 * @param {(path: string, body: object, token?: string) => Promise<unknown>} post
 * @param {() => Promise<string>} visitor
 * @param {string} key
 * @param {string} email
 */
async function register(post, visitor, key, email) {
  const token = await visitor();
  const answer = await post('/v2/register', { loginId: { email }, password: PASSWORD }, token);
  const id = inner(answer, 'identity');
  const grant = { grant_type: 'authorized_client', scope: 'offline_access', member_id: id };
  return { id, token: text(await post('/oauth2/token', grant, `${token},${key}`), 'access_token') };
}

/** The owner's cookies and token, from an invitation. @param {Stoa} stoa @param {string} url */
async function createOwner(stoa, url) {
  const invitation = await stoa.command('owner', 'invite', '--email', 'owner@example.org');
  const invite = new URL(text(invitation, 'setupUrl')).searchParams.get('invite');
  const started = await send(url, '/_api/account/v1/flows', { kind: 'OWNER_SETUP', invite }, '', '');
  const before = cookiesOf(started);
  const flow = text(await started.json(), 'token');
  const done = await send(
    url,
    `/_api/account/v1/flows/${flow}`,
    { type: 'NEW_PASSWORD', password: PASSWORD },
    '',
    before,
  );
  const cookies = [before, cookiesOf(done)].filter(Boolean).join('; ');
  const owner = text(await call(url, '/_api/account/v1/token', {}, '', cookies), 'access_token');
  return { cookies, owner };
}

/** @param {Response} response */
const cookiesOf = (response) =>
  response.headers
    .getSetCookie()
    .map((it) => it.split(';')[0])
    .join('; ');

/** @param {unknown} answer @param {string} name */
const inner = (answer, name) => text(/** @type {Record<string, unknown>} */ (answer)[name], 'id');

/** @param {string} url @param {string} path @param {object} body @param {string} token @param {string} [cookie] @returns {Promise<unknown>} */
async function call(url, path, body, token, cookie = '') {
  return (await send(url, path, body, token, cookie)).json();
}

/** @param {string} url @param {string} path @param {object} body @param {string} token @param {string} cookie */
async function send(url, path, body, token, cookie) {
  const headers = {
    'content-type': 'application/json',
    ...(token ? { authorization: token } : {}),
    ...(cookie ? { cookie } : {}),
  };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}
