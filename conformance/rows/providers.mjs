// Sign-in through an identity provider, by the calls that only an older version of @wix/identity publishes. The provider is a
// package of others (`lib/identity-provider.mjs`).
import { createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { assert, codeOf, failure, member, present, untyped } from '../lib/expect.mjs';
import { idTokenOf } from '../lib/identity-provider.mjs';
import { text } from '../lib/parse.mjs';
import { provedMember } from './identity.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { Page } from 'playwright-core' */
/** @import { Credentials } from '../lib/types.js' */
/** @import { World } from '../lib/world.mjs' */

const VERIFY = 'https://www.wixapis.com/_api/iam/authentication/v2/PASSWORD/verify';

/** @type {Row[]} */
export const rows = [
  {
    method: 'identity@1.0.120 authentication.loginWithIdpConnection',
    check: 'the answer comes over the channel, encrypted, and the member is the same the next time',
    required: true,
    async run(world) {
      const email = world.email();
      const first = await signInBy(world, email);
      assert.equal(first.state, 'SUCCESS');
      assert.ok(first.sessionToken);
      isConnected(world, first.identity, email);
      // What the call was given comes back.
      assert.deepEqual(member(first.additionalData, 'from'), { strValue: 'a button' });
      const again = await signInBy(world, email);
      assert.equal(text(again.identity, 'id'), text(first.identity, 'id'));
    },
  },
  {
    method: 'identity@1.0.120 authentication.loginWithIdpConnection',
    check:
      'an account of the same address signs in once the pages have connected it, and its password can be asked for',
    required: true,
    run: (world) =>
      world.withPolicy(untyped({ secondFactor: 'OPTIONAL' }), async () => {
        const { own, email, password } = await provedMember(world, 'coming by a provider');
        assert.equal((await signInBy(world, email)).state, 'REQUIRE_FIRST_FACTOR');
        await connect(world, { email, password });
        assert.equal((await signInBy(world, email)).state, 'SUCCESS');

        await own('factors', { type: 'PASSWORD' });
        const challenge = await signInBy(world, email);
        assert.equal(challenge.state, 'MFA_CHALLENGE');
        assert.equal(text(member(challenge, 'mfaChallengeData'), 'factorType'), 'PASSWORD');
        // No version of the package sends the object.
        const wrong = await verifyPassword(world, text(challenge, 'stateToken'), 'not this one');
        assert.ok(wrong.status >= 400 && wrong.status < 500, `a wrong password answered ${wrong.status}`);
        const right = await verifyPassword(world, text(challenge, 'stateToken'), password);
        assert.equal(text(await right.json(), 'state'), 'SUCCESS');
        // Who signs in by the password is not asked for it twice.
        assert.equal((await world.visitor().authentication.loginV2({ email }, { password })).state, 'SUCCESS');
      }),
  },
  {
    method: 'identity@1.0.120 authentication.loginWithIdpConnectionTokenParams',
    check: 'an ID token signs in, once, and for its nonce only',
    required: true,
    async run(world) {
      const email = world.email();
      const nonce = randomBytes(16).toString('base64url');
      const wish = { account: email, nonce, redirectUri: world.run.redirectUri };
      const tokenParams = { idToken: await idTokenOf(world.run.provider, wish), nonce };
      const idpConnectionId = world.run.provider.connectionId;
      const call = (/** @type {Record<string, string>} */ tokenParams) =>
        world.oldestVisitor().authentication.loginWithIdpConnectionTokenParams({ idpConnectionId, tokenParams });
      const other = { ...tokenParams, nonce: randomBytes(16).toString('base64url') };
      assert.equal(typeof codeOf(await failure(call(other))), 'string');
      const answer = await call(tokenParams);
      assert.equal(answer.state, 'SUCCESS');
      assert.ok(answer.sessionToken);
      isConnected(world, answer.identity, email);
      assert.equal(typeof codeOf(await failure(call(tokenParams))), 'string');
    },
  },
  {
    method: 'identity@1.0.120 authentication.loginCallback',
    check: 'an unknown state is refused by application code, and a session token by name',
    required: true,
    async run(world) {
      const { authentication } = world.oldestVisitor();
      const unknown = await failure(authentication.loginCallback({ state: 'no-such-state' }));
      assert.equal(codeOf(unknown), 'INVALID_STATE_TOKEN');
      const withToken = await failure(authentication.loginCallback({ state: 'no-such-state', sessionToken: 'none' }));
      // The package tells where in its own parameters the member is.
      const violations = present(withToken.details?.validationError).fieldViolations;
      assert.deepEqual(
        violations.map(({ field }) => field),
        ['options.sessionToken'],
      );
    },
  },
];

/** @param {World} world @param {string} stateToken @param {string} password */
const verifyPassword = (world, stateToken, password) =>
  world.visitor().fetchWithAuth(VERIFY, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ factorType: 'PASSWORD', stateToken, passwordData: { password } }),
  });

/**
 * What a sign-in by the provider comes to: asked for by the package, gone through in a browser, heard by another tab.
 * @param {World} world @param {string} account
 * @returns {Promise<{ state: string, sessionToken?: string, identity?: unknown, additionalData?: unknown }>}
 */
async function signInBy(world, account) {
  const sessionId = randomUUID();
  const key = randomBytes(32);
  const { siteId, provider } = world.run;
  const answer = await world
    .oldestVisitor()
    .authentication.loginWithIdpConnection(
      { tenantId: siteId, idpConnectionId: provider.connectionId },
      untyped('SITE'),
      { sessionId, encryptionKey: key.toString('base64'), customPayload: { from: 'a button' } },
    );
  assert.equal(answer.statusCode, 302);
  const location = present(answer.headers?.find((it) => it.key?.toLowerCase() === 'location')?.value);
  const browser = await world.browser();
  return browser.visit(async ({ page }) => {
    // The channel is heard by pages of the origin that answers.
    await page.goto('https://www.wixapis.com/account/error?code=NONE');
    await page.evaluate((sessionId) => {
      window.heard = new Promise((done) => {
        new BroadcastChannel(`wix-idp-${sessionId}`).onmessage = ({ data }) => done(data);
      });
    }, sessionId);
    const tab = await page.context().newPage();
    await tab.goto(location);
    await sayWho(tab, account);
    const heard = present(await page.evaluate(() => window.heard));
    return JSON.parse(decrypted(key, heard));
  });
}

/** On the provider's page. @param {Page} page @param {string} account */
async function sayWho(page, account) {
  await page.getByLabel('Account').fill(account);
  await page.getByRole('button', { name: 'Sign in at Acme' }).click();
}

/** On the account pages: the provider names the address of an account, whose password connects the two. @param {World} world @param {Credentials} credentials */
async function connect(world, { email, password }) {
  const browser = await world.browser();
  await browser.visit(async ({ page }) => {
    await page.goto('https://www.wixapis.com/account/sign-in');
    await page.getByRole('button', { name: 'Continue with Acme' }).click();
    await sayWho(page, email);
    await page.getByRole('heading', { name: 'Connect Acme to your account' }).waitFor();
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Connect and sign in' }).click();
    await page.getByText('You are signed in').first().waitFor();
  });
}

/** AES-GCM; the tag stands at the end. @param {Buffer} key @param {{ iv: string, data: string }} message */
function decrypted(key, { iv, data }) {
  const bytes = Buffer.from(data, 'base64');
  const open = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64'));
  open.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([open.update(bytes.subarray(0, -16)), open.final()]).toString();
}

/** The member has a connection with this account of the provider. @param {World} world @param {unknown} identity @param {string} account */
function isConnected({ run }, identity, account) {
  const connections = /** @type {unknown[]} */ (member(identity, 'connections'));
  assert.deepEqual(
    connections.map((it) => {
      const idp = member(it, 'idpConnection');
      return [text(idp, 'idpConnectionId'), text(idp, 'idpUserId')];
    }),
    [[run.provider.connectionId, account]],
  );
}
