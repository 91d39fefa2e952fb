import { createHash } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { challengeOf, createClient, createPkce, memoryTokens } from '../src/index.ts';
import { type Handler, type Seen, serve } from './server.ts';

const redirectUri = 'https://app.example/signed-in';

/** The redirect session, and a token endpoint that checks the proof of the code `good`. */
function provider(): Handler {
  let request: Record<string, unknown> = {};
  return ({ path, body }: Seen) => {
    if (path === '/v1/redirect-session') {
      request = ((body['auth'] as Record<string, unknown> | undefined)?.['authRequest'] ?? {}) as typeof request;
      const fullUrl =
        'logout' in body
          ? 'https://id.example/logout?s=1'
          : `https://id.example/authorize?s=${String(request['state'])}`;
      return { body: { redirectSession: { id: '1', fullUrl, urlDetails: { endpoint: 'https://id.example' } } } };
    }
    if (path === '/oauth2/user-info') return { body: { sub: 'm1', name: 'Ada', email: 'ada@example.com' } };
    if (body['grantType'] !== 'authorization_code') return undefined;
    const proof = createHash('sha256').update(String(body['codeVerifier'])).digest('base64url');
    return body['code'] === 'good' &&
      proof === request['codeChallenge'] &&
      body['redirectUri'] === request['redirectUri']
      ? undefined
      : { status: 400, body: { error: 'invalid_grant', error_description: 'The code is not good.' } };
  };
}

async function start() {
  const server = await serve(provider());
  const tokens = memoryTokens();
  return { server, tokens, stoa: createClient({ baseUrl: server.url, clientId: 'c1', tokens }) };
}

const stateOf = (url: string) => new URL(url).searchParams.get('s') ?? '';

test('the challenge is that of RFC 7636, appendix B', async () => {
  expect(await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  );
  const { verifier } = await createPkce();
  expect(verifier).toMatch(/^[\w-]{43}$/);
});

describe('signing in', () => {
  test('round trip: address, return, member', async () => {
    const { server, stoa, tokens } = await start();
    const url = await stoa.auth.signInUrl({ redirectUri, returnTo: '/cities/1' });
    expect(server.to('/v1/redirect-session')[0]?.headers['authorization']).toBe('anonymous-1');
    expect(server.to('/v1/redirect-session')[0]?.body).toEqual({
      auth: {
        authRequest: {
          redirectUri,
          clientId: 'c1',
          codeChallenge: expect.stringMatching(/^[\w-]{43}$/) as string,
          codeChallengeMethod: 'S256',
          responseMode: 'fragment',
          responseType: 'code',
          scope: 'offline_access',
          state: stateOf(url),
        },
      },
    });
    expect(await stoa.auth.member()).toBeNull();

    const back = `${redirectUri}#code=good&state=${stateOf(url)}`;
    // Looked at twice at once: one exchange.
    const [first, second] = await Promise.all([stoa.auth.handleReturn(back), stoa.auth.handleReturn(back)]);
    expect([first, second]).toEqual([{ returnTo: '/cities/1' }, { returnTo: '/cities/1' }]);
    expect(server.to('/oauth2/token')).toHaveLength(2);
    expect(server.to('/oauth2/token')[1]?.headers['authorization']).toBeUndefined();
    expect(stoa.auth.loggedIn).toBe(true);
    expect(tokens.get().refreshToken).toEqual({ value: 'refresh-2', role: 'member' });
    expect(await stoa.auth.member()).toEqual({ sub: 'm1', name: 'Ada', email: 'ada@example.com' });
    await expect(stoa.auth.handleReturn(back)).rejects.toMatchObject({ message: 'Invalid _state' });
  });

  test('the query is read as well', async () => {
    const { server, stoa } = await start();
    const url = await stoa.auth.signInUrl({ redirectUri, mode: 'query', prompt: 'none' });
    expect(server.to('/v1/redirect-session')[0]?.body['auth']).toMatchObject({
      authRequest: { responseMode: 'query' },
      prompt: 'none',
    });
    await stoa.auth.handleReturn(`${redirectUri}?code=good&state=${stateOf(url)}`);
    expect(stoa.auth.loggedIn).toBe(true);
  });

  test.each([
    ['', 'Missing code or _state'],
    ['?code=good', 'Missing code or _state'],
    ['?state=x', 'Missing code or _state'],
    ['#code=&state=x', 'Missing code or _state'],
    ['#code=good&state=foreign', 'Invalid _state'],
  ])('return with %j: %s, without a request', async (part, message) => {
    const { server, stoa } = await start();
    await expect(stoa.auth.handleReturn(redirectUri + part)).rejects.toMatchObject({ name: 'StoaError', message });
    expect(server.seen).toHaveLength(0);
  });

  test('the error of the page is thrown', async () => {
    const { stoa } = await start();
    const back = `${redirectUri}#error=login_required&error_description=Nobody+is+signed+in&state=x`;
    await expect(stoa.auth.handleReturn(back)).rejects.toMatchObject({
      code: 'login_required',
      message: 'Nobody is signed in',
    });
  });

  test('a code that is refused leaves the visitor a visitor', async () => {
    const { stoa } = await start();
    const url = await stoa.auth.signInUrl({ redirectUri });
    const back = stoa.auth.handleReturn(`${redirectUri}#code=bad&state=${stateOf(url)}`);
    await expect(back).rejects.toMatchObject({ code: 'invalid_grant', status: 400, message: 'The code is not good.' });
    expect(stoa.auth.loggedIn).toBe(false);
  });

  test('unknown options are refused', async () => {
    const { stoa } = await start();
    const options = { redirectUri, redirectUrl: 'x' };
    await expect(stoa.auth.signInUrl(options)).rejects.toMatchObject({ code: 'WDE0018' });
  });

  test('an answer without an address is an error', async () => {
    const server = await serve(({ path }) => (path === '/v1/redirect-session' ? { body: {} } : undefined));
    const stoa = createClient({ baseUrl: server.url, clientId: 'c1', tokens: memoryTokens() });
    await expect(stoa.auth.signInUrl({ redirectUri })).rejects.toMatchObject({ message: 'No redirect URL found' });
  });
});

describe('signing out', () => {
  test('forgets the tokens and gives the address', async () => {
    const { server, stoa, tokens } = await start();
    let changes = 0;
    const stop = stoa.auth.subscribe(() => (changes += 1));
    expect(await stoa.auth.signOut('https://app.example/')).toBe('https://id.example/logout?s=1');
    expect(server.to('/v1/redirect-session')[0]?.body).toEqual({
      logout: { clientId: 'c1' },
      callbacks: { postFlowUrl: 'https://app.example/' },
    });
    expect(tokens.get().refreshToken).toEqual({ value: '', role: 'none' });
    stop();
    expect(changes).toBe(2);
  });

  test('keeps the tokens when the server does not answer', async () => {
    const { server, stoa, tokens } = await start();
    await stoa.auth.signInUrl({ redirectUri });
    await server.close();
    await expect(stoa.auth.signOut('https://app.example/')).rejects.toMatchObject({ code: 'NETWORK' });
    expect(tokens.get().refreshToken.role).toBe('visitor');
  });
});
