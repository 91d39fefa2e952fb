// An OpenID Connect provider on this machine, by a package that knows nothing of the server under test. It has a page of its
// own, on which a person says who they are, or that they don't want to. Imports no package, so that e2e can use it with its own.
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { present, text } from './parse.mjs';

/** @import { IncomingMessage, ServerResponse } from 'node:http' */

/**
 * The part of the package oidc-provider that is used.
 * @typedef {new (issuer: string, configuration: object) => {
 *   callback(): (request: IncomingMessage, response: ServerResponse) => unknown,
 *   interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>,
 * }} Package
 *
 * @typedef {{ email?: string, isVerified?: boolean, firstName?: string }} Person   what the provider says of one
 * @typedef {Awaited<ReturnType<typeof startIdentityProvider>>} IdentityProvider
 */

const CLIENT_ID = 'the-site';
const SECONDS = 600;

/**
 * Starts one, of which no site is a client yet.
 * @param {Package} Package
 * @param {{ name?: string, algorithm?: 'RS256' | 'ES256' | 'EdDSA' }} [options] `algorithm`: by which its ID tokens are signed
 */
export async function startIdentityProvider(Package, { name = 'Acme', algorithm = 'RS256' } = {}) {
  /** @type {Map<string, Person>} */
  const people = new Map();
  /** An account that is an address is one whose address the provider vouches for. @param {string} account */
  const personOf = (account) =>
    people.get(account) ?? (account.includes('@') ? { email: account, isVerified: true } : null);
  const clientSecret = randomBytes(24).toString('base64url');
  /** The paths at which it answers nothing of use. @type {RegExp | null} */
  let broken = null;
  /** @type {{ oidc: InstanceType<Package>, handle: (request: IncomingMessage, response: ServerResponse) => unknown } | undefined} */
  let running;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (broken?.test(path) || !running)
      response.writeHead(503, { 'content-type': 'text/plain' }).end('Come back later.');
    else if (path.startsWith('/interaction/'))
      interaction(running.oidc, request, response).catch(() => response.writeHead(400).end());
    else running.handle(request, response);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider has no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const keys = [signingKey(algorithm)];

  /** The site sends people back to these addresses. @param {string[]} redirectUris */
  function register(redirectUris) {
    const oidc = new Package(issuer, {
      clients: redirectUris.length > 0 ? [client(redirectUris)] : [],
      jwks: { keys },
      adapter: Memory,
      cookies: { keys: [randomBytes(24).toString('base64url')] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name'] },
      // The address is in the ID token, as most providers have it, and not at the user info endpoint alone.
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      ttl: Object.fromEntries(
        ['AccessToken', 'AuthorizationCode', 'Grant', 'IdToken', 'Interaction', 'Session'].map((it) => [it, SECONDS]),
      ),
      interactions: {
        url: (/** @type {unknown} */ _, /** @type {{ uid: string }} */ { uid }) => `/interaction/${uid}`,
      },
      findAccount: (/** @type {unknown} */ _, /** @type {string} */ account) => ({
        accountId: account,
        claims: () => claimsOf(account, present(personOf(account))),
      }),
      loadExistingGrant: grantOf,
    });
    running = { oidc, handle: oidc.callback() };
  }

  /** @param {string[]} redirectUris */
  function client(redirectUris) {
    return {
      client_id: CLIENT_ID,
      client_secret: clientSecret,
      redirect_uris: redirectUris,
      grant_types: ['authorization_code'],
      response_types: ['code'],
      id_token_signed_response_alg: algorithm,
    };
  }

  /** The provider's own page. @param {InstanceType<Package>} oidc @param {IncomingMessage} request @param {ServerResponse} response */
  async function interaction(oidc, request, response) {
    if (request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(name, ''));
      return;
    }
    const form = await formOf(request);
    const account = form.get('account') ?? '';
    if (form.has('cancel')) await oidc.interactionFinished(request, response, { error: 'access_denied' });
    else if (personOf(account)) await oidc.interactionFinished(request, response, { login: { accountId: account } });
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(name, 'Unknown account.'));
  }

  register([]);
  return {
    name,
    issuer,
    clientId: CLIENT_ID,
    clientSecret,
    register,
    /** Another account, or other words about one. @param {string} account @param {Person} person */
    tells: (account, person) => void people.set(account, person),
    /** From now on it answers nothing of use at these paths; with null everywhere something again. @param {RegExp | null} paths */
    breaks: (paths) => {
      broken = paths;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(() => done(undefined)));
    },
  };
}

/** Where it keeps what it knows of sign-ins, apart from other providers of this process. */
class Memory {
  /** @type {Map<string, Record<string, unknown>>} */
  #kept = new Map();

  /** @param {string} id @param {Record<string, unknown>} what */
  async upsert(id, what) {
    this.#kept.set(id, what);
  }
  /** @param {string} id */
  async find(id) {
    return this.#kept.get(id);
  }
  /** @param {string} uid */
  async findByUid(uid) {
    return [...this.#kept.values()].find((it) => it.uid === uid);
  }
  async findByUserCode() {
    return undefined;
  }
  /** @param {string} id */
  async consume(id) {
    const found = this.#kept.get(id);
    if (found) found.consumed = Math.floor(Date.now() / 1000);
  }
  /** @param {string} id */
  async destroy(id) {
    this.#kept.delete(id);
  }
  /** @param {string} grantId */
  async revokeByGrantId(grantId) {
    for (const [id, it] of this.#kept) if (it.grantId === grantId) this.#kept.delete(id);
  }
}

/** @param {string} id @param {Person} person */
function claimsOf(id, { email, isVerified, firstName }) {
  return {
    sub: id,
    ...(email === undefined ? {} : { email, email_verified: isVerified === true }),
    ...(firstName === undefined ? {} : { given_name: firstName }),
  };
}

/**
 * Who signs in has agreed to what the site asks for.
 * @param {{ oidc: {
 *   client: { clientId: string }, session: { accountId: string },
 *   provider: { Grant: new (of: object) => { addOIDCScope(scope: string): void, save(): Promise<string> } },
 * } }} context
 */
async function grantOf({ oidc }) {
  const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
  grant.addOIDCScope('openid email profile');
  await grant.save();
  return grant;
}

/** @param {'RS256' | 'ES256' | 'EdDSA'} algorithm */
function signingKey(algorithm) {
  const { privateKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : algorithm === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519');
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: algorithm, kid: `${algorithm}-1` };
}

/** @param {string} name @param {string} problem */
const page = (name, problem) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${name}</title>
  <link rel="icon" href="data:,"></head><body><main><h1>${name}</h1><form method="post">
  <p><label>Account <input name="account" autocomplete="off"></label></p><p role="alert">${problem}</p>
  <p><button>Sign in at ${name}</button> <button name="cancel" value="1">Cancel</button></p></form></main></body></html>`;

/**
 * An ID token that a front end gets itself, without a browser: it signs in at the provider and redeems the code.
 * @param {{ issuer: string, clientId: string, clientSecret: string }} provider
 * @param {{ account: string, nonce: string, redirectUri: string }} wish
 */
export async function idTokenOf({ issuer, clientId, clientSecret }, { account, nonce, redirectUri }) {
  /** @type {Map<string, string>} */
  const cookies = new Map();
  /** @param {string} address @param {RequestInit} [init] */
  const go = async (address, init = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(new URL(address, issuer), { ...init, redirect: 'manual', headers: { cookie } });
    for (const it of answer.headers.getSetCookie()) {
      const [, name, value] = present(/^([^=]+)=([^;]*)/.exec(it));
      cookies.set(name, value);
    }
    return answer.headers.get('location') ?? '';
  };
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email profile',
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const asked = await go(`/auth?${query}`);
  const told = await go(asked, { method: 'POST', body: new URLSearchParams({ account }) });
  const code = present(new URL(await go(told)).searchParams.get('code'), 'the code');
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const redeemed = await fetch(new URL('/token', issuer), {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams(form),
  });
  return text(await redeemed.json(), 'id_token');
}

/** @param {IncomingMessage} request */
async function formOf(request) {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}
