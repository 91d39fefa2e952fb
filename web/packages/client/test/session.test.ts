import { afterEach, describe, expect, test, vi } from 'vitest';

import { type Tokens, StoaError, createClient, memoryTokens } from '../src/index.ts';
import { readTokens } from '../src/tokens.ts';
import { type Handler, serve } from './server.ts';

const now = () => Math.floor(Date.now() / 1000);
const member = (expiresAt: number, access = 'old-access'): Tokens => ({
  accessToken: { value: access, expiresAt },
  refreshToken: { value: 'old-refresh', role: 'member' },
});
const countAnswer = { body: { totalCount: 7 } };
/** Answers the count; the token endpoint stays with the server of the tests. */
const counting: Handler = ({ path }) => (path === '/v2/items/count' ? countAnswer : undefined);

async function start(handler: Handler, tokens = memoryTokens()) {
  const server = await serve(handler);
  return { server, tokens, stoa: createClient({ baseUrl: server.url, clientId: 'c1', tokens }) };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('token life', () => {
  test('nothing is sent before the first call; that call makes one visitor for any number of callers', async () => {
    const { server, stoa, tokens } = await start(counting);
    expect(server.seen).toHaveLength(0);
    await Promise.all(Array.from({ length: 20 }, () => stoa.items.count('cities')));
    expect(server.to('/oauth2/token').map(({ body }) => body)).toEqual([{ clientId: 'c1', grantType: 'anonymous' }]);
    expect(server.to('/oauth2/token')[0]?.headers['authorization']).toBeUndefined();
    expect(new Set(server.to('/v2/items/count').map(({ headers }) => headers['authorization']))).toEqual(
      new Set(['anonymous-1']),
    );
    expect(tokens.get()).toEqual({
      accessToken: { value: 'anonymous-1', expiresAt: expect.closeTo(now() + 3600, -1) as number },
      refreshToken: { value: 'refresh-1', role: 'visitor' },
    });
    expect(stoa.auth.loggedIn).toBe(false);
  });

  test('a token that ended is renewed once for all callers, and the role stays', async () => {
    const { server, stoa, tokens } = await start(counting, memoryTokens(member(now() - 1)));
    await Promise.all(Array.from({ length: 20 }, () => stoa.items.count('cities')));
    expect(server.to('/oauth2/token').map(({ body }) => body)).toEqual([
      { clientId: 'c1', refreshToken: 'old-refresh', grantType: 'refresh_token' },
    ]);
    expect(tokens.get().refreshToken).toEqual({ value: 'refresh-1', role: 'member' });
    expect(stoa.auth.loggedIn).toBe(true);
  });

  test('the old refresh token is kept when none comes', async () => {
    const answer: Handler = (seen) =>
      seen.path === '/oauth2/token' ? { body: { access_token: 'a', expires_in: '60' } } : counting(seen);
    const { stoa, tokens } = await start(answer, memoryTokens(member(0)));
    await stoa.items.count('cities');
    expect(tokens.get().refreshToken).toEqual({ value: 'old-refresh', role: 'member' });
  });

  test('a token is used until it ends', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { server, stoa } = await start(counting);
    await stoa.items.count('cities');
    vi.setSystemTime(Date.now() + 3_590_000);
    await stoa.items.count('cities');
    expect(server.to('/oauth2/token')).toHaveLength(1);
    vi.setSystemTime(Date.now() + 10_000);
    await stoa.items.count('cities');
    expect(server.to('/oauth2/token')).toHaveLength(2);
  });

  test('a refused renewal ends the membership: a new visitor', async () => {
    const refused: Handler = (seen) =>
      seen.body['grantType'] === 'refresh_token'
        ? { status: 400, body: { error: 'invalid_grant', error_description: 'ended' } }
        : counting(seen);
    const { stoa, tokens } = await start(refused, memoryTokens(member(0)));
    let changes = 0;
    stoa.auth.subscribe(() => (changes += 1));
    expect(await stoa.items.count('cities')).toBe(7);
    expect(tokens.get().refreshToken.role).toBe('visitor');
    expect(changes).toBe(1);
  });

  test.each([500, 503, 429])('a renewal that meets %i leaves the member signed in', async (status) => {
    const down: Handler = ({ path }) => (path === '/oauth2/token' ? { status } : countAnswer);
    const { stoa, tokens } = await start(down, memoryTokens(member(0)));
    await expect(stoa.items.count('cities')).rejects.toMatchObject({ status });
    expect(tokens.get()).toEqual(member(0));
  });

  test('no connection leaves the member signed in, and the error says so', async () => {
    const { server, stoa, tokens } = await start(counting, memoryTokens(member(0)));
    await server.close();
    await expect(stoa.items.count('cities')).rejects.toMatchObject({ code: 'NETWORK', status: 0 });
    expect(tokens.get()).toEqual(member(0));
  });

  test('a token in its last seconds still serves when renewal is out of reach', async () => {
    const down: Handler = ({ path }) => (path === '/oauth2/token' ? { status: 503 } : countAnswer);
    const { stoa } = await start(down, memoryTokens(member(now() + 3)));
    expect(await stoa.items.count('cities')).toBe(7);
  });
});

describe('a token that the server refuses although in time', () => {
  const only =
    (good: string): Handler =>
    ({ path, headers }) => {
      if (path === '/oauth2/token') return undefined;
      return headers['authorization'] === good ? countAnswer : { status: 401, body: { message: 'no' } };
    };

  test('is renewed and the call made again', async () => {
    const { server, stoa } = await start(only('refresh_token-1'), memoryTokens(member(now() + 900)));
    const counts = await Promise.all([stoa.items.count('cities'), stoa.items.count('cities')]);
    expect(counts).toEqual([7, 7]);
    expect(server.to('/oauth2/token')).toHaveLength(1);
  });

  test('gives the refusal when the new one is refused too', async () => {
    const { server, stoa } = await start(only('never'), memoryTokens(member(now() + 900)));
    await expect(stoa.items.count('cities')).rejects.toMatchObject({ status: 401, code: 'HTTP_401' });
    expect(server.to('/v2/items/count')).toHaveLength(2);
  });

  const ended: Handler = (seen) =>
    seen.body['grantType'] === 'refresh_token'
      ? { status: 401, body: { error: 'invalid_grant' } }
      : seen.path === '/v2/items/count'
        ? only('anonymous-1')(seen)
        : seen.path === '/v2/items'
          ? { status: 401, body: { message: 'no' } }
          : undefined;

  test('after the end of the membership: a read is answered as the visitor', async () => {
    const { stoa } = await start(ended, memoryTokens(member(now() + 900)));
    expect(await stoa.items.count('cities')).toBe(7);
    expect(stoa.auth.loggedIn).toBe(false);
  });

  test('after the end of the membership: a write is not made as another visitor', async () => {
    const { server, stoa } = await start(ended, memoryTokens(member(now() + 900)));
    await expect(stoa.items.insert('journal', { note: 'x' })).rejects.toBeInstanceOf(StoaError);
    expect(server.to('/v2/items')).toHaveLength(1);
    expect(stoa.auth.loggedIn).toBe(false);
  });
});

test('a renewal does not overwrite tokens that came meanwhile', async () => {
  const tokens = memoryTokens(member(0));
  const slow: Handler = (seen) => {
    if (seen.body['grantType'] !== 'refresh_token') return counting(seen);
    tokens.set({
      accessToken: { value: 'new', expiresAt: now() + 900 },
      refreshToken: { value: 'new-r', role: 'member' },
    });
    return undefined;
  };
  const { server, stoa } = await start(slow, tokens);
  await stoa.items.count('cities');
  expect(tokens.get().refreshToken.value).toBe('new-r');
  expect(server.to('/v2/items/count')[0]?.headers['authorization']).toBe('new');
});

test('renewal goes through the exclusive section of the store, and takes what another tab renewed', async () => {
  const inner = memoryTokens(member(0));
  const fresh = { ...member(now() + 900, 'from-other-tab') };
  const { server, stoa } = await start(counting, {
    ...inner,
    exclusive: async (work) => {
      inner.set(fresh);
      return work();
    },
  });
  await stoa.items.count('cities');
  expect(server.to('/oauth2/token')).toHaveLength(0);
  expect(server.to('/v2/items/count')[0]?.headers['authorization']).toBe('from-other-tab');
});

test('what the server asks to be told for consistency is told on later calls', async () => {
  const { server, stoa } = await start(({ path }) =>
    path === '/v2/items/count' ? { ...countAnswer, headers: { 'x-wix-consistent': 'mark' } } : undefined,
  );
  await stoa.items.count('a');
  await stoa.items.count('a');
  expect(server.to('/v2/items/count').map(({ headers }) => headers['x-wix-consistent'])).toEqual([undefined, 'mark']);
});

test.each([null, '', 'x', '{}', '[]', 'null', '{"accessToken":{"value":1}}'])('stored %j counts as nothing', (text) => {
  expect(readTokens(text).refreshToken.role).toBe('none');
});

test('unknown options of createClient are refused', () => {
  const options = { baseUrl: 'http://127.0.0.1', clientId: 'c', tokens: memoryTokens(), headers: {} };
  expect(() => createClient(options)).toThrow(/Unknown option "headers"/);
  expect(() => createClient({ baseUrl: 'nowhere', clientId: 'c', tokens: memoryTokens() })).toThrow(/baseUrl/);
});
