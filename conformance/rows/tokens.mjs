// Tokens of the client's strategies: visitors, renewal, external sign-in, application callers.
import * as sdk from '@wix/sdk';
import { SiteSessionAuth } from '@wix/sdk/auth/site-session';
import { assert, failsWithStatus, failure, isTokens, member, present } from '../lib/expect.mjs';

/** @import { BoundAuthenticationStrategy, Tokens } from '@wix/sdk' */
/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */

/** @typedef {{ auth: BoundAuthenticationStrategy }} HeldBy   a client, whatever holds its token */

/** What the server says of the caller behind a client's token. @param {World} world @param {HeldBy} client */
async function whoIs(world, client) {
  const { headers } = await client.auth.getAuthHeaders();
  return tokenInfo(world, headers.Authorization);
}

/** Asked by the application strategy, which sends the token alone. @param {World} world @param {string} accessToken */
function tokenInfo(world, accessToken) {
  return appStrategy(world, { accessToken }).getTokenInfo();
}

/** @param {World} world @param {object} [more] */
function appStrategy(world, more = { instanceId: world.run.siteId }) {
  const { secretClientId: appId, clientSecret: appSecret } = world.run;
  return sdk.AppStrategy({ appId, appSecret, ...more });
}

/** Tokens whose access token the client takes for expired. @param {Tokens} tokens */
function expired(tokens) {
  return { ...tokens, accessToken: { ...tokens.accessToken, expiresAt: 1 } };
}

/** @type {Row[]} */
export const rows = [
  {
    method: 'OAuthStrategy.generateVisitorTokens',
    check: 'gives a visitor',
    required: true,
    async run(world) {
      isTokens(await world.visitor().auth.generateVisitorTokens(), 'visitor');
    },
  },
  {
    method: 'OAuthStrategy.generateVisitorTokens',
    check: 'two visitors are two',
    required: true,
    async run(world) {
      const ids = await Promise.all(
        [world.visitor(), world.visitor()].map(async (client) => {
          const info = await whoIs(world, client);
          assert.equal(info.subjectType, 'VISITOR');
          return info.subjectId;
        }),
      );
      assert.notEqual(ids[0], ids[1]);
    },
  },
  {
    method: 'OAuthStrategy.generateVisitorTokens',
    check: 'twenty at once',
    required: true,
    async run(world) {
      const client = world.visitor();
      const all = await Promise.all(Array.from({ length: 20 }, () => client.auth.generateVisitorTokens()));
      for (const tokens of all) isTokens(tokens, 'visitor');
    },
  },
  {
    method: 'OAuthStrategy.generateVisitorTokens',
    check: 'an unknown client id is refused',
    required: true,
    async run(world) {
      const auth = sdk.OAuthStrategy({ clientId: world.id() });
      const error = await failure(auth.generateVisitorTokens());
      assert.match(error.message, /^Failed to fetch tokens from OAuth API: /);
      assert.doesNotMatch(error.message, /request id: null/, 'no X-Wix-Request-Id on the answer');
    },
  },
  {
    method: 'OAuthStrategy.generateVisitorTokens',
    check: 'a refused refresh token gives a new visitor',
    required: true,
    async run(world) {
      const tokens = await world
        .visitor()
        .auth.generateVisitorTokens({ refreshToken: { value: 'no-such-token', role: 'member' } });
      isTokens(tokens, 'visitor');
    },
  },
  {
    method: 'OAuthStrategy.renewToken',
    check: 'the same visitor, again and again with one refresh token',
    required: true,
    async run(world) {
      const client = world.visitor();
      const tokens = await client.auth.generateVisitorTokens();
      client.auth.setTokens(tokens);
      const before = await tokenInfo(world, tokens.accessToken.value);
      const renewed = await Promise.all([1, 2, 3, 4].map(() => client.auth.renewToken(tokens.refreshToken)));
      for (const pair of renewed) {
        isTokens(pair, 'visitor');
        const after = await tokenInfo(world, pair.accessToken.value);
        assert.equal(after.subjectId, before.subjectId);
      }
    },
  },
  {
    method: 'OAuthStrategy.renewToken',
    check: 'the same member, again and again with one refresh token',
    required: true,
    async run(world) {
      const { id, client } = await world.member('renewing');
      const { refreshToken } = client.auth.getTokens();
      for (let i = 0; i < 3; i += 1) {
        const pair = await client.auth.renewToken(refreshToken);
        isTokens(pair, 'member');
        const info = await tokenInfo(world, pair.accessToken.value);
        assert.deepEqual([info.subjectType, info.subjectId], ['MEMBER', id]);
      }
    },
  },
  {
    method: 'OAuthStrategy.renewToken',
    check: 'refuses what is no refresh token',
    required: true,
    async run(world) {
      const { auth } = world.visitor();
      const { accessToken } = await auth.generateVisitorTokens();
      for (const value of ['', 'x', 'a.b.c', accessToken.value, `${'A'.repeat(3000)}`]) {
        const error = await failure(auth.renewToken({ value, role: 'visitor' }));
        assert.match(error.message, /^Failed to fetch tokens/, `for ${value.slice(0, 20)}`);
        const { status } = world.recorder.last();
        assert.ok(status >= 400 && status < 500, `answered ${status}`);
      }
    },
  },
  {
    method: 'OAuthStrategy.getAuthHeaders',
    check: 'an expired access token is renewed before the next call',
    required: true,
    async run(world) {
      const { id, client } = await world.member('expiring');
      client.auth.setTokens(expired(client.auth.getTokens()));
      const mark = world.recorder.mark();
      const info = await whoIs(world, client);
      assert.equal(info.subjectId, id);
      const grants = world.recorder.since(mark).filter(({ url }) => url.endsWith('/oauth2/token'));
      assert.deepEqual(
        grants.map(({ body }) => member(JSON.parse(body), 'grantType')),
        ['refresh_token'],
      );
      assert.ok(client.auth.loggedIn());
    },
  },
  {
    method: 'OAuthStrategy.getActiveToken',
    check: 'gives the access token',
    required: true,
    async run(world) {
      const client = world.visitor();
      const tokens = await client.auth.generateVisitorTokens();
      client.auth.setTokens(tokens);
      assert.equal(await client.auth.getActiveToken?.(), tokens.accessToken.value);
    },
  },
  {
    method: 'OAuthStrategy.getTokens',
    check: 'kept as set',
    required: true,
    async run(world) {
      const { client } = await world.member('expiring');
      isTokens(client.auth.getTokens(), 'member');
    },
  },
  {
    method: 'OAuthStrategy.setTokens',
    check: 'tokens moved to another client still work',
    required: true,
    async run(world) {
      const { id, client } = await world.member('expiring');
      const other = world.visitor(client.auth.getTokens());
      assert.equal((await whoIs(world, other)).subjectId, id);
    },
  },
  {
    method: 'OAuthStrategy.loggedIn',
    check: 'true for a member, false for a visitor',
    required: true,
    async run(world) {
      const { client } = await world.member('expiring');
      assert.equal(client.auth.loggedIn(), true);
      assert.equal(world.visitor().auth.loggedIn(), false);
    },
  },
  {
    method: 'OAuthStrategy.getMemberTokensForExternalLogin',
    check: 'gives the member',
    required: true,
    async run(world) {
      const { id } = await world.member('external');
      const client = world.visitor();
      client.auth.setTokens(await client.auth.generateVisitorTokens());
      const tokens = await client.auth.getMemberTokensForExternalLogin(id, world.run.apiKey);
      isTokens(tokens, 'member');
      client.auth.setTokens(tokens);
      const info = await whoIs(world, client);
      assert.deepEqual([info.subjectType, info.subjectId, info.siteId], ['MEMBER', id, world.run.siteId]);
    },
  },
  {
    method: 'OAuthStrategy.getMemberTokensForExternalLogin',
    check: 'refused without a right key, and for an unknown member',
    required: true,
    async run(world) {
      const { id } = await world.member('external');
      const { auth } = world.visitor();
      auth.setTokens(await auth.generateVisitorTokens());
      await failure(auth.getMemberTokensForExternalLogin(id, 'no-such-key'));
      assert.ok([400, 401, 403].includes(world.recorder.last().status), `answered ${world.recorder.last().status}`);
      await failure(auth.getMemberTokensForExternalLogin(world.id(), world.run.apiKey));
      assert.ok(
        [400, 401, 403, 404].includes(world.recorder.last().status),
        `answered ${world.recorder.last().status}`,
      );
    },
  },
  {
    method: 'OAuthStrategy.getMemberTokensForExternalLoginWithSession',
    check: 'makes and signs in a member',
    async run(world) {
      const client = world.visitor();
      const tokens = await client.auth.getMemberTokensForExternalLoginWithSession(world.email(), world.run.apiKey, {});
      isTokens(tokens, 'member');
    },
  },
  {
    method: 'ApiKeyStrategy.getAuthHeaders',
    check: 'reads as a caller with full rights',
    required: true,
    async run(world) {
      const auth = sdk.ApiKeyStrategy({ apiKey: world.run.apiKey, siteId: world.run.siteId });
      const { headers } = await auth.getAuthHeaders(undefined);
      assert.equal(headers.Authorization, world.run.apiKey);
      const list = await world.app.collections.listDataCollections();
      assert.ok(Array.isArray(list.collections));
    },
  },
  {
    method: 'ApiKeyStrategy.getAuthHeaders',
    check: 'a wrong key is refused',
    required: true,
    async run(world) {
      const client = world.client(sdk.ApiKeyStrategy({ apiKey: 'no-such-key', siteId: world.run.siteId }));
      await failsWithStatus(client.collections.listDataCollections(), 401, 403);
    },
  },
  {
    method: 'ApiKeyStrategy.setSiteId',
    check: "a site that is not the key's is refused",
    required: true,
    async run(world) {
      const client = world.client(sdk.ApiKeyStrategy({ apiKey: world.run.apiKey, siteId: world.run.siteId }));
      client.auth.setSiteId(world.id());
      await failsWithStatus(client.collections.listDataCollections(), 401, 403, 404);
    },
  },
  {
    method: 'ApiKeyStrategy.setAccountId',
    check: 'sent without harm',
    required: true,
    async run(world) {
      const client = world.client(sdk.ApiKeyStrategy({ apiKey: world.run.apiKey, siteId: world.run.siteId }));
      client.auth.setAccountId(world.id());
      await client.collections.listDataCollections();
    },
  },
  {
    method: 'AppStrategy.getAuthHeaders',
    check: 'client credentials give an application caller',
    required: true,
    async run(world) {
      const client = world.client(appStrategy(world));
      const info = await whoIs(world, client);
      assert.equal(info.active, true);
      assert.equal(info.subjectType, 'APP');
      await client.collections.listDataCollections();
    },
  },
  {
    method: 'AppStrategy.getAuthHeaders',
    check: 'a wrong secret is refused',
    required: true,
    async run(world) {
      const auth = sdk.AppStrategy({
        appId: world.run.secretClientId,
        appSecret: 'no-such-secret',
        instanceId: world.run.siteId,
      });
      await failure(Promise.resolve(auth.getAuthHeaders(undefined)));
      assert.ok([400, 401, 403].includes(world.recorder.last().status), `answered ${world.recorder.last().status}`);
    },
  },
  {
    method: 'AppStrategy.getActiveToken',
    check: 'gives the token it was made with',
    required: true,
    async run(world) {
      assert.equal(await appStrategy(world, { accessToken: 'as given' }).getActiveToken?.(), 'as given');
    },
  },
  {
    method: 'AppStrategy.getTokenInfo',
    check: 'of a visitor, a member and no token at all',
    required: true,
    async run(world) {
      const { id, client } = await world.member('external');
      const member = await whoIs(world, client);
      assert.deepEqual(
        [member.active, member.subjectType, member.subjectId, member.clientId, member.siteId],
        [true, 'MEMBER', id, world.run.clientId, world.run.siteId],
      );
      assert.ok(Number(member.exp) > Number(member.iat));
      const visitor = world.visitor();
      assert.equal((await whoIs(world, visitor)).subjectType, 'VISITOR');
      assert.notEqual((await tokenInfo(world, 'no-such-token').catch(() => ({ active: false }))).active, true);
    },
  },
  {
    method: 'AppStrategy.getTokenInfo',
    check: 'of the owner',
    required: true,
    async run(world) {
      const info = await whoIs(world, await world.owner());
      assert.deepEqual([info.active, info.subjectType, info.siteId], [true, 'USER', world.run.siteId]);
    },
  },
  {
    method: 'AppStrategy.getTokenInfo',
    check: 'of an instance token',
    required: true,
    async run(world) {
      const client = world.client(appStrategy(world));
      const info = await whoIs(world, client);
      assert.equal(info.active, true);
      assert.equal(info.clientId, world.run.secretClientId);
    },
  },
  {
    method: 'AppStrategy.elevated',
    check: "from a visitor's token to the application",
    required: true,
    async run(world) {
      const { accessToken } = await sdk.OAuthStrategy({ clientId: world.run.secretClientId }).generateVisitorTokens();
      const auth = await appStrategy(world, { accessToken: accessToken.value }).elevated();
      assert.equal((await whoIs(world, world.client(auth))).subjectType, 'APP');
    },
  },
  {
    method: 'AppStrategy.handleOAuthCallback',
    check: 'exchanges the code of an installation',
    required: true,
    async run(world) {
      const auth = sdk.AppStrategy({ appId: world.run.secretClientId, appSecret: world.run.clientSecret });
      const callback = await world.install(
        auth.getInstallUrl({ redirectUrl: world.run.redirectUri, state: 'as sent' }),
      );
      const { instanceId, accessToken, refreshToken } = await auth.handleOAuthCallback(callback, { state: 'as sent' });
      assert.equal(instanceId, world.run.siteId);
      assert.equal((await tokenInfo(world, accessToken)).subjectType, 'APP');
      // With the refresh token alone it asks for access before every request.
      const later = sdk.AppStrategy({
        appId: world.run.secretClientId,
        appSecret: world.run.clientSecret,
        refreshToken,
      });
      const client = world.client(later);
      await client.collections.listDataCollections();
      await client.collections.listDataCollections();
    },
  },
  {
    method: 'AppStrategy.handleOAuthCallback',
    check: 'refuses a code that is unknown, and another state',
    required: true,
    async run(world) {
      const auth = sdk.AppStrategy({ appId: world.run.secretClientId, appSecret: world.run.clientSecret });
      const address = `${world.run.redirectUri}?code=none&instanceId=${world.run.siteId}`;
      await failure(auth.handleOAuthCallback(address));
      await failure(auth.handleOAuthCallback(`${address}&state=a`, { state: 'b' }));
    },
  },
  {
    method: 'AppStrategy.getInstallUrl',
    check: 'built without a request',
    required: true,
    run(world) {
      const url = sdk
        .AppStrategy({ appId: world.run.secretClientId, appSecret: 's' })
        .getInstallUrl({ redirectUrl: 'https://atlas.test/' });
      assert.match(url, /^https:\/\/www\.wix\.com\/installer\/install\?/);
    },
  },
  {
    method: 'AppStrategy.decodeJWT',
    check: 'refuses a token of another key, without a request',
    required: true,
    async run() {
      const auth = sdk.AppStrategy({ appId: 'none', publicKey: Buffer.from('none').toString('base64') });
      const decode = present(auth.decodeJWT);
      await failure(
        (async () => {
          const decoded = await decode('a.b.c');
          if (decoded.valid) return decoded;
          throw new Error('not valid');
        })(),
      );
    },
  },
  ...siteSessionRows(),
];

/** @returns {Row[]} */
function siteSessionRows() {
  const strategy = (/** @type {World} */ world) => SiteSessionAuth({ clientId: world.run.clientId });
  const row = (
    /** @type {string} */ name,
    /** @type {string} */ check,
    /** @type {(world: World) => unknown} */ run,
  ) => ({ method: `SiteSessionAuth.${name}`, check, required: true, run });
  return [
    row('generateVisitorTokens', 'gives a visitor', async (world) =>
      isTokens(await strategy(world).generateVisitorTokens(), 'visitor'),
    ),
    row('renewToken', 'without a client id in the request', async (world) => {
      const auth = strategy(world);
      const tokens = await auth.generateVisitorTokens();
      isTokens(await auth.renewToken(tokens.refreshToken), 'visitor');
      assert.equal(member(JSON.parse(world.recorder.last().body), 'clientId'), undefined);
    }),
    row('getAuthHeaders', 'signs a call', async (world) => {
      const client = world.client(strategy(world));
      const id = await world.createCollection();
      assert.deepEqual((await client.items.query(id).find()).items, []);
    }),
    row('setTokens', 'tokens are used', async (world) => {
      const { id, client } = await world.member('external');
      const auth = strategy(world);
      auth.setTokens(client.auth.getTokens());
      const { headers } = await auth.getAuthHeaders();
      const info = await tokenInfo(world, headers.Authorization);
      assert.equal(info.subjectId, id);
    }),
    row('getTokens', 'kept as set', (world) => assert.equal(strategy(world).getTokens().accessToken.value, '')),
    row('loggedIn', 'false at first', (world) => assert.equal(strategy(world).loggedIn(), false)),
  ];
}
