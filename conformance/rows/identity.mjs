// The identity modules besides sign-in: token endpoint as a module, keys, logout, recovery, and what
// only version 1.0.164 still publishes.
import { createPublicKey, verify } from 'node:crypto';
import * as ece from 'http_ece';
import { assert, codeOf, failsWithStatus, failure, member, present, untyped } from '../lib/expect.mjs';
import { messagesTo } from '../lib/mail.mjs';
import { text } from '../lib/parse.mjs';
import { SoftwarePasskey } from '../lib/passkey.mjs';
import { startPushService } from '../lib/push.mjs';
import { codesTo } from '../lib/telephone.mjs';
import { codeAt, currentStep } from '../lib/totp.mjs';

/** @import { Row } from '../lib/runner.mjs' */
/** @import { Client, OldClient, World } from '../lib/world.mjs' */

const OWN = 'https://www.wixapis.com/_api/identity/v1';

/** The envelope that the module calls take. @param {object} value */
const body = (value) => new TextEncoder().encode(JSON.stringify(value));

/**
 * What a module call answers, plain or in an envelope.
 * @param {object} answer
 * @returns {Record<string, unknown>}
 */
function contentOf(answer) {
  const bytes = member(answer, 'body');
  return untyped(bytes instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(bytes)) : answer);
}

/** @type {Row[]} */
export const rows = [
  {
    method: 'oauth.token',
    check: 'anonymous, camel case',
    required: true,
    async run(world) {
      const tokens = contentOf(
        await world.visitor().oauth.token({ body: body({ grantType: 'anonymous', clientId: world.run.clientId }) }),
      );
      assert.ok(tokens.access_token && tokens.refresh_token && Number(tokens.expires_in) > 0);
    },
  },
  {
    method: 'oauth.token',
    check: 'refresh_token, snake case',
    required: true,
    async run(world) {
      const client = world.visitor();
      const { refreshToken } = await client.auth.generateVisitorTokens();
      const tokens = contentOf(
        await client.oauth.token({
          body: body({ grant_type: 'refresh_token', client_id: world.run.clientId, refresh_token: refreshToken.value }),
        }),
      );
      assert.ok(tokens.access_token);
    },
  },
  {
    method: 'oauth.token',
    check: 'an unknown grant is refused',
    required: true,
    async run(world) {
      const client = world.visitor();
      for (const grant of ['password', '', 7]) {
        await failsWithStatus(
          client.oauth.token({ body: body({ grant_type: grant, client_id: world.run.clientId }) }),
          400,
          401,
        );
      }
      await failsWithStatus(client.oauth.token({ body: new TextEncoder().encode('not json') }), 400, 401);
    },
  },
  {
    method: 'oauth.tokenInfo',
    check: 'of a member',
    required: true,
    async run(world) {
      const { id, client } = await world.member('asking');
      const info = contentOf(
        await client.oauth.tokenInfo({ body: body({ token: client.auth.getTokens().accessToken.value }) }),
      );
      assert.deepEqual(
        [info.active, info.subjectType, info.subjectId, info.clientId, info.siteId],
        [true, 'MEMBER', id, world.run.clientId, world.run.siteId],
      );
    },
  },
  {
    method: 'oauth.tokenInfo',
    check: 'of no token of ours: not active',
    required: true,
    async run(world) {
      const { client } = await world.member('asking');
      const info = contentOf(await client.oauth.tokenInfo({ body: body({ token: 'no-such-token' }) }));
      assert.equal(info.active ?? false, false);
    },
  },
  {
    method: 'oauth.jwks',
    check: 'an access token is signed by a published key',
    required: true,
    async run(world) {
      const { client } = await world.member('asking');
      const answer = await client.oauth.jwks();
      /** @type {(import('node:crypto').JsonWebKey & { kid?: string })[]} */
      const keys = untyped(contentOf(answer).keys);
      assert.ok(keys.length > 0);
      for (const key of keys) assert.equal(key.d, undefined, 'a private key is published');
      const token = client.auth.getTokens().accessToken.value;
      const [header, payload, signature] = token.split('.');
      if (!signature) return;
      /** @type {{ kid: string, alg: string }} */
      const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url').toString());
      assert.equal(alg, 'EdDSA');
      // The client renames any `id`, never `kid`.
      const key = keys.find((candidate) => candidate.kid === kid);
      assert.ok(key, `no key ${kid}`);
      const good = verify(
        null,
        Buffer.from(`${header}.${payload}`),
        createPublicKey({ key, format: 'jwk' }),
        Buffer.from(signature, 'base64url'),
      );
      assert.ok(good, 'the signature does not fit');
    },
  },
  {
    method: 'oauth.userInfo',
    check: 'of a member',
    required: true,
    async run(world) {
      const { id, email, client } = await world.member('asking');
      const info = await client.oauth.userInfo();
      assert.deepEqual([info.sub, info.email, info.emailVerified], [id, email, false]);
    },
  },
  {
    method: 'oauth.userInfo',
    check: 'a visitor has none',
    required: true,
    async run(world) {
      await failsWithStatus(world.visitor().oauth.userInfo(), 401, 403);
    },
  },
  {
    method: 'authentication.logout',
    check: 'answers in JSON and ends the session',
    required: true,
    async run(world) {
      const { client } = await world.createMember();
      const { refreshToken } = client.auth.getTokens();
      await client.authentication.logout({ postLogoutRedirectUri: world.run.origin, clientId: world.run.clientId });
      await failure(client.auth.renewToken(refreshToken));
      const { status } = world.recorder.last();
      assert.ok(status >= 400 && status < 500, `the refresh token of the ended session answered ${status}`);
    },
  },
  {
    method: 'authentication.logout',
    check: 'the access token of the ended session is refused at once',
    required: true,
    async run(world) {
      const { client } = await world.createMember();
      const tokens = client.auth.getTokens();
      await client.authentication.logout({});
      client.auth.setTokens(tokens);
      await failsWithStatus(client.oauth.userInfo(), 401, 403);
    },
  },
  {
    method: 'authentication.signOn',
    check: 'makes a member without a password',
    async run(world) {
      const email = world.email();
      const answer = await world.app.authentication.signOn({ email }, { profile: { firstName: 'First' } });
      assert.ok(answer.sessionToken);
      assert.equal(answer.identity?.email?.address, email);
    },
  },
  {
    method: 'authentication.changePassword',
    check: 'the new one signs in',
    async run(world) {
      const { email, client } = await world.createMember();
      const password = world.password();
      await client.authentication.changePassword(password);
      assert.equal((await world.visitor().auth.login({ email, password })).loginState, 'SUCCESS');
    },
  },
  {
    method: 'authentication.validateEmail',
    check: 'well-formed and malformed',
    async run(world) {
      assert.equal((await world.app.authentication.validateEmail(world.email())).valid, true);
      assert.equal((await world.app.authentication.validateEmail('no-at-sign')).valid ?? false, false);
    },
  },
  {
    method: 'recovery.sendRecoveryEmail',
    check: 'known and unknown addresses answer alike',
    async run(world) {
      const { email } = await world.member('recovering');
      await world.app.recovery.sendRecoveryEmail(email, {
        redirect: { url: world.run.redirectUri, clientId: world.run.clientId },
      });
      await world.app.recovery.sendRecoveryEmail(world.email(), {
        redirect: { url: world.run.redirectUri, clientId: world.run.clientId },
      });
    },
  },
  {
    method: 'recovery.sendActivationEmail',
    check: 'sends a link',
    async run(world) {
      const { id } = await world.member('recovering');
      await world.app.recovery.sendActivationEmail(id, {});
    },
  },
  {
    method: 'recovery.recover',
    check: 'a wrong token is refused by application code',
    async run(world) {
      const error = await failure(world.visitor().recovery.recover('no-such-token', { password: world.password() }));
      assert.equal(typeof error.details?.applicationError?.code, 'string', error.message);
      if (error.status === 404 || error.status === 428) throw error;
    },
  },
  {
    method: 'verification.start',
    check: 'sends a code',
    async run(world) {
      const { id, email } = await world.member('recovering');
      const { verificationId } = await world.app.verification.start({ identityId: id, target: 'EMAIL' });
      assert.ok(verificationId);
      await world.mail(email);
    },
  },
  {
    method: 'verification.verifyDuringAuthentication',
    check: 'leads from the code to a session',
    required: true,
    run: (world) => world.withPolicy({ requireEmailVerification: true }, () => verified(world, world.visitor())),
  },
  ...oldRows(),
];

/** Registers and verifies with the modules of one version. @param {World} world @param {Client | OldClient} client */
async function verified(world, client) {
  const email = world.email();
  const started = await client.authentication.registerV2({ email }, { password: world.password() });
  assert.equal(started.state, 'REQUIRE_EMAIL_VERIFICATION');
  assert.equal(started.identity?.status?.name, 'PENDING');
  const { code } = await world.mail(email);
  const done = await client.verification.verifyDuringAuthentication(String(code), {
    stateToken: present(started.stateToken),
  });
  assert.equal(done.state, 'SUCCESS');
  assert.ok(done.sessionToken);
  assert.deepEqual([done.identity?.email?.isVerified, done.identity?.status?.name], [true, 'ACTIVE']);
}

/**
 * A member whose address is shown, and who has shown in a session who they are: their own calls.
 * @param {World} world @param {string} what
 */
export async function provedMember(world, what) {
  const { id, email, password, client } = await world.member(what);
  const { verificationId } = await world.app.verification.start({ identityId: id, target: 'EMAIL' });
  const { code } = await world.mail(email);
  const stateToken = present(verificationId);
  await world.visitor().verification.verifyDuringAuthentication(String(code), { stateToken });
  // Without a body something is read.
  const own = async (/** @type {string} */ path, /** @type {object | undefined} */ body = undefined) => {
    const answer = await client.fetchWithAuth(`${OWN}/${path}`, body ? jsonPost(body) : {});
    assert.equal(answer.status, 200, path);
    return answer.json();
  };
  await own('proof', { password });
  return { own, email, password };
}

/** @param {object} body */
const jsonPost = (body) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/**
 * Asks a member's browsers, or how that stands: the number that is shown, and what asks again.
 * @param {OldClient['authentication']} visitor @param {{ stateToken: string, pushData: { transactionId?: string } }} wish
 */
async function askByPush(visitor, wish) {
  const asked = await visitor.verify('PUSH', wish);
  assert.equal(asked.state, 'MFA_CHALLENGE');
  const challenge = member(asked, 'mfaChallengeData');
  assert.equal(text(challenge, 'factorType'), 'PUSH');
  const data = member(challenge, 'verificationChallengeData');
  const transactionId = text(member(data, 'pushData'), 'transactionId');
  assert.ok(transactionId.length <= 36, transactionId);
  return { number: text(data, 'hint'), again: { stateToken: present(asked.stateToken), pushData: { transactionId } } };
}

/** Answers a question as the page does to which a notification leads: without a session. @param {World} world @param {object} body */
async function answerPush({ run }, body) {
  const address = OWN.replace('/_api', `/s/${run.siteId}/_api`);
  const answer = await fetch(`${address}/push-questions/answer`, jsonPost(body));
  assert.equal(answer.status, 200, await answer.text());
}

/**
 * What a call answers, and the code of the message that comes of it.
 * @template T @param {World} world @param {string} email @param {() => Promise<T>} call @returns {Promise<[T, string]>}
 */
async function withCode(world, email, call) {
  const codes = () => messagesTo(world.run.dataDir, email).flatMap(({ code }) => code ?? []);
  const before = codes().length;
  const answer = await call();
  for (let tries = 0; tries < 100; tries++) {
    const code = codes()[before];
    if (code) return [answer, code];
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`no code to ${email}`);
}

/** @returns {Row[]} */
function oldRows() {
  const row = (
    /** @type {string} */ name,
    /** @type {string} */ check,
    /** @type {boolean} */ required,
    /** @type {(world: World) => unknown} */ run,
  ) => ({ method: `identity@1.0.164 ${name}`, check, required, run });
  return [
    row('authentication.registerV2', 'a new member', true, async (world) => {
      const answer = await world
        .oldVisitor()
        .authentication.registerV2({ email: world.email() }, { password: world.password() });
      assert.equal(answer.state, 'SUCCESS');
    }),
    row('authentication.loginV2', 'the right password', true, async (world) => {
      const { email, password } = await world.member('asking');
      const answer = await world.oldVisitor().authentication.loginV2({ email }, { password });
      assert.equal(answer.state, 'SUCCESS');
    }),
    row('authentication.logout', 'answers in JSON', true, (world) =>
      world.oldVisitor().authentication.logout({ clientId: world.run.clientId }),
    ),
    row('authentication.changePassword', 'refused for a visitor', false, async (world) => {
      const error = await failure(world.oldVisitor().authentication.changePassword(world.password()));
      if (error.status !== 401 && error.status !== 403) throw error;
    }),
    row('authentication.signOn', 'makes a member without a password', false, async (world) => {
      assert.ok((await world.oldApp.authentication.signOn({ email: world.email() })).sessionToken);
    }),
    row('authentication.verify', 'a code of an authenticator signs in, once', true, async (world) => {
      await world.withPolicy(untyped({ secondFactor: 'OPTIONAL' }), async () => {
        const { own, email, password } = await provedMember(world, 'a second factor');
        const begun = await own('factors', {});
        const [secret, step] = [text(begun, 'secret'), currentStep()];
        await own(`factors/${text(member(begun, 'factor'), 'id')}/confirm`, { code: codeAt(secret, step) });
        const visitor = world.oldVisitor().authentication;
        const asked = await visitor.loginV2({ email }, { password });
        assert.equal(asked.state, 'MFA_CHALLENGE');
        assert.equal(text(member(asked, 'mfaChallengeData'), 'factorType'), 'TOTP');
        const answer = { stateToken: present(asked.stateToken), totpData: { code: codeAt(secret, step + 1) } };
        assert.equal((await visitor.verify('TOTP', answer)).state, 'SUCCESS');
        const again = await failure(visitor.verify('TOTP', answer));
        assert.equal(again.details?.applicationError?.code, 'VERIFICATION_FAILED');
      });
    }),
    row('authentication.verify', 'a code by e-mail is sent and signs in, once', true, async (world) => {
      await world.withPolicy(untyped({ secondFactor: 'OPTIONAL' }), async () => {
        const { own, email, password } = await provedMember(world, 'codes by e-mail');
        const [begun, first] = await withCode(world, email, () => own('factors', { type: 'EMAIL' }));
        await own(`factors/${text(member(begun, 'factor'), 'id')}/confirm`, { code: first });
        const visitor = world.oldVisitor().authentication;
        const asked = await visitor.loginV2({ email }, { password });
        assert.equal(text(member(asked, 'mfaChallengeData'), 'factorType'), 'EMAIL');
        const [sent, code] = await withCode(world, email, () =>
          visitor.verify('EMAIL', { stateToken: present(asked.stateToken), emailData: {} }),
        );
        assert.equal(sent.state, 'MFA_CHALLENGE');
        const answer = { stateToken: present(sent.stateToken), emailData: { code } };
        assert.equal((await visitor.verify('EMAIL', answer)).state, 'SUCCESS');
        const again = await failure(visitor.verify('EMAIL', answer));
        assert.equal(again.details?.applicationError?.code, 'VERIFICATION_FAILED');
      });
    }),
    row(
      'authentication.verify',
      'codes by text message and by call are sent and sign in, once',
      true,
      async (world) => {
        const policy = untyped({ secondFactor: 'OPTIONAL', secondFactorByTelephone: true });
        await world.withPolicy(policy, async () => {
          const number = '+4915112345678';
          const lastCode = () => present(codesTo(world.run.dataDir, number).at(-1));
          const { own, email, password } = await provedMember(world, 'codes by telephone');
          for (const type of ['SMS', 'CALL']) {
            const begun = await own('factors', { type, phone: number });
            await own(`factors/${text(member(begun, 'factor'), 'id')}/confirm`, { code: lastCode() });
          }
          const visitor = world.oldVisitor().authentication;
          for (const [type, name] of /** @type {const} */ ([
            ['SMS', 'smsData'],
            ['CALL', 'callData'],
          ])) {
            const asked = await visitor.loginV2({ email }, { password });
            const sent = await visitor.verify(type, { stateToken: present(asked.stateToken), [name]: {} });
            assert.equal(sent.state, 'MFA_CHALLENGE');
            const answer = { stateToken: present(sent.stateToken), [name]: { code: lastCode() } };
            assert.equal((await visitor.verify(type, answer)).state, 'SUCCESS');
            const again = await failure(visitor.verify(type, answer));
            assert.equal(again.details?.applicationError?.code, 'VERIFICATION_FAILED');
          }
        });
      },
    ),
    row('authentication.verify', 'a passkey is asked for in both forms and signs in, once', true, async (world) => {
      await world.withPolicy(untyped({ secondFactor: 'OPTIONAL' }), async () => {
        const { own, email, password } = await provedMember(world, 'a passkey');
        const passkey = new SoftwarePasskey('https://www.wixapis.com');
        const begun = await own('factors', { type: 'WEBAUTHN' });
        const credential = JSON.stringify(passkey.create(untyped(member(begun, 'options'))));
        await own(`factors/${text(member(begun, 'factor'), 'id')}/confirm`, { credential });
        const visitor = world.oldVisitor().authentication;
        const asked = await visitor.loginV2({ email }, { password });
        assert.equal(asked.state, 'MFA_CHALLENGE');
        const questionOf = (/** @type {unknown} */ answer) => {
          const challenge = member(answer, 'mfaChallengeData');
          assert.equal(text(challenge, 'factorType'), 'WEBAUTHN');
          return member(member(challenge, 'verificationChallengeData'), 'webauthnData');
        };
        const question = questionOf(asked);
        const options = JSON.parse(text(question, 'publicKeyCredentialRequestOptionsJson'));
        // This version hands on what it knows in base64, and gives ids another name.
        const base64url = (/** @type {unknown} */ it) => Buffer.from(String(it), 'base64').toString('base64url');
        assert.equal(base64url(member(question, 'challenge')), options.challenge);
        const [allowed] = /** @type {unknown[]} */ (member(question, 'allowCredentials'));
        assert.equal(base64url(member(allowed, '_id')), options.allowCredentials[0].id);
        assert.equal(text(question, 'userVerification'), 'USER_VERIFICATION_REQUIRED');
        const show = (
          /** @type {unknown} */ data,
          /** @type {SoftwarePasskey} */ by,
          /** @type {object} */ options,
        ) => ({
          stateToken: present(asked.stateToken),
          webauthnData: {
            challengeId: text(data, 'challengeId'),
            credential: JSON.stringify(by.get(untyped(options))),
          },
        });
        const other = new SoftwarePasskey('https://www.wixapis.com');
        const wrong = await failure(
          visitor.verify('WEBAUTHN', show(question, other, { ...options, allowCredentials: [] })),
        );
        assert.equal(codeOf(wrong), 'VERIFICATION_FAILED');
        const answer = show(question, passkey, options);
        assert.equal((await visitor.verify('WEBAUTHN', answer)).state, 'SUCCESS');
        assert.equal(codeOf(await failure(visitor.verify('WEBAUTHN', answer))), 'VERIFICATION_FAILED');
        // Without an answer another challenge comes, and the sign-in goes on with it.
        const again = await visitor.verify('WEBAUTHN', { stateToken: present(asked.stateToken), webauthnData: {} });
        const next = questionOf(again);
        const done = show(next, passkey, JSON.parse(text(next, 'publicKeyCredentialRequestOptionsJson')));
        assert.equal((await visitor.verify('WEBAUTHN', done)).state, 'SUCCESS');
      });
    }),
    row('authentication.verify', 'a notification asks another browser, and signs in once', true, async (world) => {
      const service = await startPushService(ece);
      try {
        await world.withPolicy(untyped({ secondFactor: 'OPTIONAL' }), async () => {
          const { own, email, password } = await provedMember(world, 'notifications');
          const browser = service.browser(text(await own('factors'), 'pushKey'));
          const begun = await own('factors', { type: 'PUSH', subscription: browser.subscription });
          const code = text(await browser.next('code'), 'code');
          await own(`factors/${text(member(begun, 'factor'), 'id')}/confirm`, { code });
          const visitor = world.oldVisitor().authentication;
          const ask = async () => {
            const { stateToken } = await visitor.loginV2({ email }, { password });
            return askByPush(visitor, { stateToken: present(stateToken), pushData: {} });
          };
          const first = await ask();
          const question = await browser.next('question');
          const waits = await askByPush(visitor, first.again);
          assert.equal(waits.again.pushData.transactionId, first.again.pushData.transactionId);
          assert.match(first.number, /^\d\d$/);
          await answerPush(world, { token: text(question, 'token'), number: first.number });
          assert.equal((await visitor.verify('PUSH', waits.again)).state, 'SUCCESS');
          assert.equal(codeOf(await failure(visitor.verify('PUSH', waits.again))), 'VERIFICATION_FAILED');
          // One that is denied leads nowhere.
          const second = await ask();
          await answerPush(world, { token: text(await browser.next('question', 1), 'token'), denied: true });
          assert.equal(codeOf(await failure(visitor.verify('PUSH', second.again))), 'VERIFICATION_FAILED');
          assert.equal(browser.messages.length, 3, 'asking how it stands sends nothing');
        });
      } finally {
        await service.stop();
      }
    }),
    row('authentication.verify', 'a wrong state is refused by application code', true, async (world) => {
      const error = await failure(
        world.oldVisitor().authentication.verify('TOTP', { stateToken: 'no-such-state', totpData: { code: '000000' } }),
      );
      if (typeof error.details?.applicationError?.code !== 'string' || error.status === 404 || error.status === 428)
        throw error;
    }),
    row('oauth.token', 'anonymous', true, async (world) => {
      const client = world.oldVisitor();
      const answer = await client.oauth.token({ body: body({ grantType: 'anonymous', clientId: world.run.clientId }) });
      // This version leaves the bytes of an answer as text.
      const tokens = answer.body ? JSON.parse(Buffer.from(untyped(answer.body), 'base64').toString()) : answer;
      assert.ok(member(tokens, 'access_token'));
    }),
    row('oauth.tokenInfo', 'of a visitor', true, async (world) => {
      const client = world.oldVisitor();
      const token = (await client.auth.getAuthHeaders()).headers.Authorization;
      const info = await client.oauth.tokenInfo({ body: body({ token }) });
      assert.equal(info.subjectType, 'VISITOR');
    }),
    row('recovery.sendRecoveryEmail', 'answers', false, async (world) => {
      const { email } = await world.member('recovering');
      await world.oldApp.recovery.sendRecoveryEmail(email, {
        redirect: { url: world.run.redirectUri, clientId: world.run.clientId },
      });
    }),
    row('recovery.sendActivationEmail', 'answers', false, async (world) => {
      const { id } = await world.member('recovering');
      await world.oldApp.recovery.sendActivationEmail(id, {});
    }),
    row('recovery.recover', 'a wrong token is refused', false, async (world) => {
      const error = await failure(world.oldVisitor().recovery.recover('no-such-token', { password: world.password() }));
      if (error.status === 404 || error.status === 428) throw error;
    }),
    row('verification.start', 'at the old spelling /v1/Start', false, async (world) => {
      const { id } = await world.member('recovering');
      assert.ok((await world.oldApp.verification.start({ identityId: id, target: 'EMAIL' })).verificationId);
    }),
    row('verification.verifyDuringAuthentication', 'leads from the code to a session', true, (world) =>
      world.withPolicy({ requireEmailVerification: true }, () => verified(world, world.oldVisitor())),
    ),
    row('verification.resendDuringAuthentication', 'a second code comes and works', false, (world) =>
      world.withPolicy({ requireEmailVerification: true }, async () => {
        const client = world.oldVisitor();
        const email = world.email();
        const started = await client.authentication.registerV2({ email }, { password: world.password() });
        await world.mail(email);
        const resent = await client.verification.resendDuringAuthentication(present(started.stateToken));
        assert.equal(resent.state, 'REQUIRE_EMAIL_VERIFICATION');
        const { code } = await world.mail(email, 2);
        const done = await client.verification.verifyDuringAuthentication(String(code), {
          stateToken: present(resent.stateToken),
        });
        assert.equal(done.state, 'SUCCESS');
      }),
    ),
  ];
}
