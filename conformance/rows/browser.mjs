// What only a browser can show: the bundled packages under CORS, the hidden frame, the hosted pages,
// the session cookie and its end.
import { assert, failure, isTokens } from '../lib/expect.mjs';
import { shelf } from './shelf.mjs';

/** @import { OauthData } from '@wix/sdk' */
/** @import { ClientError } from '../lib/types.js' */
/** @import { Row } from '../lib/runner.mjs' */
/** @import { World } from '../lib/world.mjs' */
/** @import { Site } from '../lib/browser.mjs' */

/** @type {(method: string, check: string, work: (world: World, site: Site) => Promise<unknown>, required?: boolean) => Row} */
const inBrowser = (method, check, work, required = true) => ({
  method,
  check: `${check}, in Chromium`,
  required,
  run: async (world) => (await world.browser()).visit((site) => work(world, site)),
});

/** Signs a new person up through the hosted page; the tab ends signed in. @param {World} world @param {Site} site */
async function signUpAtPage(world, site) {
  const person = { email: world.email(), password: world.password() };
  await site.open();
  await site.page.goto(await site.authUrl({}));
  await site.signUp(person);
  const tokens = await site.exchange(await site.returned('fragment'));
  return { person, tokens };
}

/** Who the tab's client is, asked with a visitor-free module call. @param {Site} site */
const userInfo = (site) => site.page.evaluate(() => window.site.oauth.userInfo());

/** @type {Row[]} */
export const rows = [
  inBrowser('OAuthStrategy.generateVisitorTokens', 'with preflight and exposed headers', async (_world, site) => {
    await site.open();
    const result = await site.page.evaluate(async () => {
      const { site } = window;
      const tokens = await site.auth.generateVisitorTokens();
      site.auth.setTokens(tokens);
      const error = await site.items.get('no-such-collection', 'x').then(
        () => undefined,
        (/** @type {ClientError} */ error) => error,
      );
      const refused = await site.oauth.userInfo().then(
        () => undefined,
        (/** @type {ClientError} */ error) => ({ status: error.status, requestId: error.requestId }),
      );
      return { tokens, code: error?.details?.applicationError?.code, refused };
    });
    isTokens(result.tokens, 'visitor');
    assert.equal(result.code, 'WDE0025', 'an error answer must be readable across origins');
    assert.ok(result.refused?.requestId, `no request id across origins: ${JSON.stringify(result.refused)}`);
  }),
  inBrowser('OAuthStrategy.getMemberTokensForDirectLogin', 'register, then the hidden frame', async (world, site) => {
    const person = { email: world.email(), password: world.password() };
    await site.open();
    const answer = await site.page.evaluate((person) => window.site.auth.register(person), person);
    assert.equal(answer.loginState, 'SUCCESS', JSON.stringify(answer));
    const tokens = await directLogin(site, answer.data.sessionToken);
    isTokens(tokens, 'member');
    const info = await userInfo(site);
    assert.equal(info.email, person.email);
    assert.equal(await site.page.locator('iframe').count(), 0);
  }),
  inBrowser('OAuthStrategy.getMemberTokensForDirectLogin', 'login, then the hidden frame', async (world, site) => {
    const { email, password, id } = await world.member('direct');
    await site.open();
    const answer = await site.page.evaluate((person) => window.site.auth.login(person), { email, password });
    assert.equal(answer.loginState, 'SUCCESS', JSON.stringify(answer));
    isTokens(await directLogin(site, answer.data.sessionToken), 'member');
    assert.equal((await userInfo(site)).sub, id);
  }),
  inBrowser(
    'OAuthStrategy.getMemberTokensForDirectLogin',
    'a wrong session token ends at once, not after two minutes',
    async (_world, site) => {
      await site.open();
      const started = Date.now();
      const message = await site.page.evaluate(() =>
        window.site.auth.getMemberTokensForDirectLogin('no-such-session').then(
          () => 'signed in',
          (/** @type {Error} */ error) => error.message,
        ),
      );
      assert.equal(message, 'Missing code or _state');
      assert.ok(Date.now() - started < 15_000, `took ${Date.now() - started} ms`);
    },
  ),
  inBrowser('OAuthStrategy.getAuthUrl', 'sign-up at the hosted page, back in the fragment', async (world, site) => {
    const { person, tokens } = await signUpAtPage(world, site);
    isTokens(tokens, 'member');
    assert.equal((await userInfo(site)).email, person.email);
  }),
  inBrowser('OAuthStrategy.getAuthUrl', 'sign-in at the hosted page, back in the query', async (world, site) => {
    const { email, password, id } = await world.member('hosted');
    await site.open();
    await site.page.goto(await site.authUrl({ responseMode: 'query' }));
    await site.signIn({ email, password });
    const result = await site.returned('query');
    isTokens(await site.exchange(result), 'member');
    assert.equal((await userInfo(site)).sub, id);
  }),
  inBrowser(
    'OAuthStrategy.getAuthUrl',
    'a wrong password is said at the hosted page, and the address stays',
    async (world, site) => {
      const { email, password } = await world.member('hosted');
      await site.open();
      await site.page.goto(await site.authUrl({}));
      await site.signIn({ email, password: 'not it at all' });
      await site.page.getByText('The email or password does not match').first().waitFor();
      assert.equal(await site.page.getByLabel('Email', { exact: true }).inputValue(), email);
      await site.signIn({ email, password });
      await site.returned('fragment');
    },
  ),
  inBrowser(
    'OAuthStrategy.getAuthUrl',
    'prompt none with the session cookie comes straight back',
    async (world, site) => {
      const { tokens } = await signUpAtPage(world, site);
      await site.open();
      await site.page.goto(await site.authUrl({ prompt: 'none' }));
      const again = await site.exchange(await site.returned('fragment'));
      isTokens(again, 'member');
      assert.notEqual(again.refreshToken.value, tokens.refreshToken.value);
    },
  ),
  inBrowser('OAuthStrategy.getAuthUrl', 'prompt none without a session: login_required', async (_world, site) => {
    await site.open();
    await site.page.goto(await site.authUrl({ prompt: 'none' }));
    const result = await site.returned('fragment');
    assert.equal(result.error, 'login_required', JSON.stringify(result));
    assert.equal(result.code, null);
    assert.ok(result.state);
  }),
  inBrowser('OAuthStrategy.getAuthUrl', 'prompt login asks even with a session', async (world, site) => {
    await signUpAtPage(world, site);
    await site.open();
    await site.page.goto(await site.authUrl({ prompt: 'login' }));
    await site.page.getByLabel('Password', { exact: true }).waitFor();
    assert.match(site.page.url(), /^https:\/\/www\.wixapis\.com\//);
  }),
  inBrowser('OAuthStrategy.parseFromUrl', 'reads what the hosted page sent', async (_world, site) => {
    await site.open();
    await site.page.goto(await site.authUrl({ prompt: 'none', responseMode: 'query' }));
    const result = await site.returned('query');
    assert.equal(result.error, 'login_required', JSON.stringify(result));
    assert.ok(result.state);
  }),
  inBrowser('OAuthStrategy.getMemberTokens', 'a code works once, and only with its verifier', async (world, site) => {
    const { email, password } = await world.member('hosted');
    await site.open();
    await site.page.goto(await site.authUrl({}));
    await site.signIn({ email, password });
    const result = await site.returned('fragment');
    const outcome = await site.page.evaluate(async ({ code, state }) => {
      const { site } = window;
      /** @type {OauthData} */
      const data = JSON.parse(sessionStorage.getItem('oauthData') ?? '');
      const attempt = (/** @type {object} */ change) =>
        site.auth.getMemberTokens(code, state, { ...data, ...change }).then(
          () => 'tokens',
          (/** @type {Error} */ error) => error.message,
        );
      return [await attempt({ codeVerifier: 'A'.repeat(43) }), await attempt({}), await attempt({})];
    }, result);
    assert.match(outcome[0], /^Failed to fetch tokens/, 'a wrong verifier');
    assert.match(outcome[2], /^Failed to fetch tokens/, 'a second use');
  }),
  inBrowser('OAuthStrategy.getMemberTokens', 'a wrong redirect URI is refused', async (world, site) => {
    const { email, password } = await world.member('hosted');
    await site.open();
    await site.page.goto(await site.authUrl({}));
    await site.signIn({ email, password });
    const result = await site.returned('fragment');
    const message = await site.page.evaluate(async ({ code, state }) => {
      /** @type {OauthData} */
      const data = JSON.parse(sessionStorage.getItem('oauthData') ?? '');
      return window.site.auth.getMemberTokens(code, state, { ...data, redirectUri: `${data.redirectUri}/other` }).then(
        () => 'tokens',
        (/** @type {Error} */ error) => error.message,
      );
    }, result);
    assert.match(message, /^Failed to fetch tokens/);
  }),
  inBrowser('OAuthStrategy.logout', 'goes away, comes back, and the session is gone', async (world, site) => {
    const { tokens } = await signUpAtPage(world, site);
    const logoutUrl = await site.page.evaluate(
      async (/** @type {string} */ back) => (await window.site.auth.logout(back)).logoutUrl,
      `${world.run.origin}/goodbye`,
    );
    await site.page.goto(logoutUrl);
    await site.page.waitForURL(`${world.run.origin}/goodbye**`);
    await site.ready();
    await site.page.goto(await site.authUrl({ prompt: 'none' }));
    const result = await site.returned('fragment');
    assert.equal(result.error, 'login_required', JSON.stringify(result));
    const renewed = await site.page.evaluate(
      (refreshToken) =>
        window.site.auth.renewToken(refreshToken).then(
          () => 'renewed',
          (/** @type {Error} */ error) => error.message,
        ),
      tokens.refreshToken,
    );
    assert.match(renewed, /^Failed to fetch tokens/, 'the refresh token of the ended session');
  }),
  inBrowser('OAuthStrategy.sessions.syncToWixPages', 'the frame loads and the time is kept', async (_world, site) => {
    await site.open();
    const kept = await site.page.evaluate(async () => {
      const { site } = window;
      site.enableContext('global');
      await site.auth.sessions.syncToWixPages({ force: true });
      return localStorage.getItem('wixRedirectSessionLastPreWarm');
    });
    assert.match(String(kept), /^\d{13}$/);
  }),
  inBrowser('OAuthStrategy.sessions.isSessionSynced', 'false before, true after', async (_world, site) => {
    await site.open();
    const [before, after] = await site.page.evaluate(async () => {
      const { site } = window;
      site.enableContext('global');
      const before = await site.auth.sessions.isSessionSynced();
      await site.auth.sessions.syncToWixPages({ force: true });
      return [before, await site.auth.sessions.isSessionSynced()];
    });
    assert.deepEqual([before, after], [false, true]);
  }),
  ...['syncToWixPages', 'isSessionSynced'].map((name) =>
    inBrowser(`SiteSessionAuth.${name}`, 'like the other strategy', async (world, site) => {
      await site.open();
      const synced = await site.page.evaluate(async (/** @type {string} */ clientId) => {
        const { conformance } = window;
        const client = conformance.sdk.createClient({
          modules: conformance.modules,
          auth: conformance.SiteSessionAuth({ clientId }),
        });
        client.enableContext('global');
        await client.auth.syncToWixPages({ force: true });
        return client.auth.isSessionSynced();
      }, world.run.clientId);
      assert.equal(synced, true);
    }),
  ),
  inBrowser('OAuthStrategy.renewToken', 'an expired token is renewed before the call', async (world, site) => {
    await site.open();
    const result = await site.page.evaluate(
      async (id) => {
        const { site } = window;
        const tokens = await site.auth.generateVisitorTokens();
        site.auth.setTokens({ ...tokens, accessToken: { ...tokens.accessToken, expiresAt: 1 } });
        await site.items.query(id).find();
        const renewed = site.auth.getTokens();
        return { before: tokens, renewed, now: Date.now() / 1000 };
      },
      await shelf(world),
    );
    assert.equal(result.renewed.refreshToken.value, result.before.refreshToken.value);
    assert.ok(result.renewed.accessToken.expiresAt > result.now, JSON.stringify(result.renewed));
  }),
  inBrowser('items.query', 'every operator, built and raw', async (world, site) => {
    const id = await shelf(world);
    await site.open();
    const { wrong, count } = await site.page.evaluate(
      (/** @type {string} */ id) => window.conformance.operators(window.site, id),
      id,
    );
    assert.deepEqual(wrong, []);
    assert.ok(count > 100, `only ${count} cases`);
  }),
  inBrowser('items.bulkInsert', '1,000 items, then get, total and pages forward and back', async (world, site) => {
    const id = await world.createCollection({
      dataPermissions: { itemRead: 'ANYONE', itemInsert: 'ANYONE', itemUpdate: 'PRIVILEGED', itemRemove: 'PRIVILEGED' },
      permissions: undefined,
    });
    await site.open();
    const result = await site.page.evaluate(async (/** @type {string} */ id) => {
      const { items } = window.site;
      const made = await items.bulkInsert(
        id,
        Array.from({ length: 1000 }, (_, n) => ({ _id: `i${String(n).padStart(4, '0')}`, n })),
      );
      const one = await items.get(id, 'i0500');
      const pages = [await items.query(id).ascending('n').limit(300).find({ returnTotalCount: true })];
      while (pages[pages.length - 1].hasNext()) pages.push(await pages[pages.length - 1].next());
      const back = await pages[3].prev();
      const numbers = (/** @type {typeof back} */ page) => page.items.map((item) => item.n);
      return {
        inserted: made.inserted,
        errors: made.errors.length,
        one: one?.n,
        total: pages[0].totalCount,
        pages: pages[0].totalPages,
        forward: pages.flatMap(numbers),
        back: numbers(back),
      };
    }, id);
    const all = Array.from({ length: 1000 }, (_, n) => n);
    assert.deepEqual(result, {
      inserted: 1000,
      errors: 0,
      one: 500,
      total: 1000,
      pages: 4,
      forward: all,
      back: all.slice(600, 900),
    });
  }),
  inBrowser('items.insert', 'as a signed-in member', async (world, site) => {
    const collection = await world.createCollection({
      dataPermissions: {
        itemRead: 'SITE_MEMBER_AUTHOR',
        itemInsert: 'SITE_MEMBER',
        itemUpdate: 'SITE_MEMBER_AUTHOR',
        itemRemove: 'SITE_MEMBER_AUTHOR',
      },
      permissions: {
        read: 'SITE_MEMBER_AUTHOR',
        insert: 'SITE_MEMBER',
        update: 'SITE_MEMBER_AUTHOR',
        remove: 'SITE_MEMBER_AUTHOR',
      },
    });
    await signUpAtPage(world, site);
    const titles = await site.page.evaluate(async (/** @type {string} */ id) => {
      const { items } = window.site;
      await items.insert(id, { title: 'from the browser', when: new Date(0) });
      return (await items.query(id).find()).items.map((item) => [item.title, item.when instanceof Date]);
    }, collection);
    assert.deepEqual(titles, [['from the browser', true]]);
  }),
  {
    method: 'redirects.createRedirectSession',
    check: 'a foreign redirect URI or client is refused',
    required: true,
    async run(world) {
      const client = world.visitor();
      const data = client.auth.generateOAuthData('https://elsewhere.example/callback');
      for (const call of [
        () => client.auth.getAuthUrl(data),
        () => client.auth.getAuthUrl(client.auth.generateOAuthData(`${world.run.redirectUri}/other`)),
        () =>
          client.redirects.createRedirectSession({
            logout: { clientId: world.id() },
            callbacks: { postFlowUrl: world.run.origin },
          }),
        () =>
          client.redirects.createRedirectSession({
            logout: { clientId: world.run.clientId },
            callbacks: { postFlowUrl: 'https://elsewhere.example/' },
          }),
      ]) {
        await failure(call());
        const { status } = world.recorder.last();
        assert.ok([400, 401, 403].includes(status), `answered ${status}`);
      }
    },
  },
  {
    method: 'redirects.createRedirectSession',
    check: 'gives every member the client reads',
    required: true,
    async run(world) {
      const client = world.visitor();
      const { clientId, redirectUri } = world.run;
      const data = client.auth.generateOAuthData(redirectUri);
      const { redirectSession } = await client.redirects.createRedirectSession({
        auth: {
          authRequest: {
            clientId,
            redirectUri,
            responseType: 'code',
            scope: 'offline_access',
            responseMode: 'fragment',
            state: data.state,
            codeChallenge: data.codeChallenge,
            codeChallengeMethod: 'S256',
          },
          prompt: 'login',
        },
      });
      assert.ok(redirectSession?._id);
      assert.ok(redirectSession?.fullUrl?.startsWith(`${redirectSession?.urlDetails?.endpoint}?`));
      assert.equal(typeof redirectSession?.urlDetails?.searchParams, 'object');
      const login = await client.redirects.createRedirectSession({ login: {} });
      assert.ok(login.redirectSession?.fullUrl);
      const logout = await client.redirects.createRedirectSession({
        logout: { clientId },
        callbacks: { postFlowUrl: `${world.run.origin}/x` },
      });
      assert.ok(logout.redirectSession?.fullUrl);
    },
  },
  {
    method: 'redirects.createRedirectSession',
    check: 'no intent, or two, is refused',
    required: true,
    async run(world) {
      const client = world.visitor();
      await failure(client.redirects.createRedirectSession());
      assert.equal(world.recorder.last().status, 400);
      await failure(client.redirects.createRedirectSession({ login: {}, logout: { clientId: world.run.clientId } }));
      assert.equal(world.recorder.last().status, 400);
    },
  },
  {
    method: 'redirects.createRedirectSession',
    check: 'for a page of the shop',
    async run(world) {
      await world.visitor().redirects.createRedirectSession({
        ecomCheckout: { checkoutId: world.id() },
        callbacks: { postFlowUrl: world.run.origin },
      });
    },
  },
];

/** @param {Site} site @param {string} sessionToken */
function directLogin(site, sessionToken) {
  return site.page.evaluate(async (/** @type {string} */ token) => {
    const { site } = window;
    const tokens = await site.auth.getMemberTokensForDirectLogin(token);
    site.auth.setTokens(tokens);
    return tokens;
  }, sessionToken);
}
