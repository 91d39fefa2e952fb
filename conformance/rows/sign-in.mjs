// Registration, sign-in and the sign-on policy, without a browser.
import { assert, codeOf, failsWithStatus, failure, isGuid, member, present, untyped } from '../lib/expect.mjs';

/** @import { Row } from '../lib/runner.mjs' */

const FAILURE = 'FAILURE';

/** Why an answer is no session. @param {object} answer */
const errorCode = (answer) => member(answer, 'errorCode');

/** @type {Row[]} */
export const rows = [
  {
    method: 'OAuthStrategy.register',
    check: 'a new address gives a session token',
    required: true,
    async run(world) {
      const { auth } = world.visitor();
      const answer = await auth.register({
        email: world.email(),
        password: world.password(),
        profile: { firstName: 'First', lastName: 'Last' },
      });
      assert.equal(answer.loginState, 'SUCCESS', JSON.stringify(answer));
      assert.ok(answer.data.sessionToken);
    },
  },
  {
    method: 'OAuthStrategy.register',
    check: 'a taken address',
    required: true,
    async run(world) {
      const { email } = await world.member('signing in');
      const answer = await world.visitor().auth.register({ email, password: world.password() });
      assert.deepEqual([answer.loginState, errorCode(answer)], [FAILURE, 'emailAlreadyExists']);
      const upper = await world.visitor().auth.register({ email: email.toUpperCase(), password: world.password() });
      assert.deepEqual([upper.loginState, errorCode(upper)], [FAILURE, 'emailAlreadyExists'], 'in capitals');
    },
  },
  {
    method: 'OAuthStrategy.register',
    check: 'a malformed address',
    required: true,
    async run(world) {
      for (const email of ['no-at-sign', 'two@@example.com', '', 'a b@example.com', '@example.com']) {
        const answer = await world.visitor().auth.register({ email, password: world.password() });
        assert.deepEqual(
          [answer.loginState, errorCode(answer)],
          [FAILURE, 'invalidEmail'],
          `for "${email}": ${JSON.stringify(answer)}`,
        );
      }
    },
  },
  {
    method: 'OAuthStrategy.register',
    check: 'a weak password',
    required: true,
    async run(world) {
      for (const password of ['', 'short', 'password', 'x'.repeat(1001)]) {
        const answer = await world.visitor().auth.register({ email: world.email(), password });
        assert.equal(answer.loginState, FAILURE, `for a password of ${password.length} characters`);
        assert.equal(errorCode(answer), undefined);
      }
    },
  },
  {
    method: 'OAuthStrategy.login',
    check: 'the right password',
    required: true,
    async run(world) {
      const { email, password } = await world.member('signing in');
      for (const spelling of [email, email.toUpperCase()]) {
        const answer = await world.visitor().auth.login({ email: spelling, password });
        assert.equal(answer.loginState, 'SUCCESS', JSON.stringify(answer));
        assert.ok(answer.data.sessionToken);
      }
    },
  },
  {
    method: 'OAuthStrategy.login',
    check: 'a wrong password',
    required: true,
    async run(world) {
      const { email, password } = await world.member('signing in');
      for (const wrong of [world.password(), `${password} `, password.toUpperCase(), '']) {
        const answer = await world.visitor().auth.login({ email, password: wrong });
        assert.deepEqual([answer.loginState, errorCode(answer)], [FAILURE, 'invalidPassword'], JSON.stringify(answer));
      }
    },
  },
  {
    method: 'OAuthStrategy.login',
    check: 'an unknown address answers like a wrong password',
    required: true,
    async run(world) {
      const { email } = await world.member('signing in');
      const wrong = await world.visitor().auth.login({ email, password: world.password() });
      const unknown = await world.visitor().auth.login({ email: world.email(), password: world.password() });
      assert.deepEqual([unknown.loginState, errorCode(unknown)], [FAILURE, 'invalidPassword']);
      const withoutIds = (/** @type {object} */ answer) =>
        String(member(answer, 'error')).replaceAll(/"requestId": "[^"]*"/g, '');
      assert.equal(withoutIds(unknown), withoutIds(wrong));
    },
  },
  {
    method: 'OAuthStrategy.login',
    check: 'a malformed address',
    required: true,
    async run(world) {
      for (const email of ['no-at-sign', '', 'two@@example.com']) {
        const answer = await world.visitor().auth.login({ email, password: world.password() });
        assert.deepEqual(
          [answer.loginState, errorCode(answer)],
          [FAILURE, 'invalidEmail'],
          `for "${email}": ${JSON.stringify(answer)}`,
        );
      }
    },
  },
  {
    method: 'OAuthStrategy.processVerification',
    check: 'the code of the e-mail ends the registration',
    required: true,
    run: (world) =>
      world.withPolicy({ requireEmailVerification: true }, async () => {
        const person = { email: world.email(), password: world.password() };
        const { auth } = world.visitor();
        const started = await auth.register(person);
        assert.equal(started.loginState, 'EMAIL_VERIFICATION_REQUIRED', JSON.stringify(started));
        assert.ok(started.data.stateToken);
        const { code } = await world.mail(person.email);
        assert.match(String(code), /^\S{6}$/);
        const done = await auth.processVerification({ verificationCode: String(code) });
        assert.equal(done.loginState, 'SUCCESS', JSON.stringify(done));
        const later = await world.visitor().auth.login(person);
        assert.equal(later.loginState, 'SUCCESS', 'a later sign-in must not ask again');
      }),
  },
  {
    method: 'OAuthStrategy.processVerification',
    check: 'a wrong code and a foreign state are refused',
    required: true,
    run: (world) =>
      world.withPolicy({ requireEmailVerification: true }, async () => {
        const person = { email: world.email(), password: world.password() };
        const { auth } = world.visitor();
        const started = await auth.register(person);
        const { code } = await world.mail(person.email);
        const wrong = String(code) === '000000' ? '000001' : '000000';
        const error = await failure(auth.processVerification({ verificationCode: wrong }, started));
        assert.equal(codeOf(error), 'VERIFICATION_FAILED', error.message);
        await failure(
          auth.processVerification(
            { verificationCode: String(code) },
            untyped({ loginState: 'EMAIL_VERIFICATION_REQUIRED', data: { stateToken: 'no-such-state' } }),
          ),
        );
        const done = await auth.processVerification({ verificationCode: String(code) }, started);
        assert.equal(done.loginState, 'SUCCESS', 'the right code after a wrong one');
        await failure(auth.processVerification({ verificationCode: String(code) }, started));
      }),
  },
  {
    method: 'OAuthStrategy.login',
    check: 'asks for the code while the address is not verified',
    required: true,
    run: (world) =>
      world.withPolicy({ requireEmailVerification: true }, async () => {
        const person = { email: world.email(), password: world.password() };
        await world.visitor().auth.register(person);
        await world.mail(person.email);
        const { auth } = world.visitor();
        const answer = await auth.login(person);
        assert.equal(answer.loginState, 'EMAIL_VERIFICATION_REQUIRED', JSON.stringify(answer));
        const { code } = await world.mail(person.email, 2);
        assert.equal((await auth.processVerification({ verificationCode: String(code) })).loginState, 'SUCCESS');
      }),
  },
  {
    method: 'OAuthStrategy.register',
    check: 'waits for the owner',
    required: true,
    run: (world) =>
      world.withPolicy({ requireOwnerApproval: true }, async () => {
        const person = { email: world.email(), password: world.password() };
        const answer = await world.visitor().auth.register(person);
        assert.deepEqual(answer, { loginState: 'OWNER_APPROVAL_REQUIRED' });
        const again = await world.visitor().auth.login(person);
        assert.deepEqual(again, { loginState: 'OWNER_APPROVAL_REQUIRED' });
        const wrong = await world.visitor().auth.login({ ...person, password: world.password() });
        assert.equal(errorCode(wrong), 'invalidPassword', 'a wrong password must not show that the address waits');
      }),
  },
  {
    method: 'members members.approveMember',
    check: 'a waiting member signs in afterwards',
    required: true,
    run: (world) =>
      world.withPolicy({ requireOwnerApproval: true }, async () => {
        const person = { email: world.email(), password: world.password() };
        const { identity } = await world
          .visitor()
          .authentication.registerV2({ email: person.email }, { password: person.password });
        await world.membersApp.members.approveMember(present(identity?._id));
        assert.equal((await world.visitor().auth.login(person)).loginState, 'SUCCESS');
      }),
  },
  {
    method: 'OAuthStrategy.register',
    check: 'verification comes before approval',
    required: true,
    run: (world) =>
      world.withPolicy({ requireOwnerApproval: true, requireEmailVerification: true }, async () => {
        const person = { email: world.email(), password: world.password() };
        const { auth } = world.visitor();
        assert.equal((await auth.register(person)).loginState, 'EMAIL_VERIFICATION_REQUIRED');
        const { code } = await world.mail(person.email);
        assert.deepEqual(await auth.processVerification({ verificationCode: String(code) }), {
          loginState: 'OWNER_APPROVAL_REQUIRED',
        });
      }),
  },
  {
    method: 'OAuthStrategy.sendPasswordResetEmail',
    check: 'sends a link',
    async run(world) {
      const { email } = await world.member('recovering');
      await world.visitor().auth.sendPasswordResetEmail(email, world.run.redirectUri);
      assert.ok((await world.mail(email)).links.length > 0);
    },
  },
  {
    method: 'OAuthStrategy.generateOAuthData',
    check: 'made without a request',
    required: true,
    run(world) {
      const data = world.visitor().auth.generateOAuthData(world.run.redirectUri, 'x');
      assert.match(data.codeVerifier, /^[\w.~-]{43}$/);
      assert.match(data.codeChallenge, /^[\w-]{43}$/);
    },
  },
  {
    method: 'authentication.registerV2',
    check: 'answers with the identity',
    required: true,
    async run(world) {
      const email = world.email();
      const answer = await world.visitor().authentication.registerV2(
        { email },
        {
          password: world.password(),
          profile: { firstName: 'First', lastName: 'Last', nickname: 'Nick' },
        },
      );
      assert.equal(answer.state, 'SUCCESS');
      isGuid(answer.identity?._id);
      assert.equal(answer.identity?.email?.address, email);
      assert.equal(answer.identity?.status?.name, 'ACTIVE');
      assert.ok(answer.identity?._createdDate instanceof Date);
      assert.equal(answer.identity?.identityProfile?.firstName, 'First');
    },
  },
  {
    method: 'authentication.registerV2',
    check: 'violations name their fields',
    required: true,
    async run(world) {
      const error = await failure(
        world.visitor().authentication.registerV2({ email: 'no-at-sign' }, { password: world.password() }),
      );
      assert.equal(error.status, 400);
      const [violation] = present(error.details?.validationError?.fieldViolations);
      assert.match(violation.field, /^loginId/);
      assert.equal(violation.data?.type, 'EMAIL');
      assert.ok(violation.description);
    },
  },
  {
    method: 'authentication.loginV2',
    check: 'the right and the wrong password',
    required: true,
    async run(world) {
      const { email, password, id } = await world.member('signing in');
      const answer = await world.visitor().authentication.loginV2({ email }, { password });
      assert.deepEqual([answer.state, answer.identity?._id], ['SUCCESS', id]);
      assert.ok(answer.sessionToken);
      const error = await failure(world.visitor().authentication.loginV2({ email }, { password: 'not it at all' }));
      assert.equal(codeOf(error), '-19976');
      assert.ok(error.requestId, 'no X-Wix-Request-Id');
      assert.ok(error.status && [400, 401, 403].includes(error.status));
    },
  },
  {
    method: 'signOnPolicy.getSignOnPolicy',
    check: 'both members are always there',
    required: true,
    async run(world) {
      const policy = await world.app.signOnPolicy.getSignOnPolicy();
      const { requireOwnerApproval, requireEmailVerification } = present(policy.signOnPolicy);
      assert.deepEqual([requireOwnerApproval, requireEmailVerification], [false, false]);
    },
  },
  {
    method: 'signOnPolicy.updateSignOnPolicy',
    check: 'changes only what is given',
    required: true,
    run: (world) =>
      world.withPolicy({ requireOwnerApproval: true }, async () => {
        const answer = await world.app.signOnPolicy.updateSignOnPolicy({ requireEmailVerification: true });
        assert.deepEqual([answer.requireOwnerApproval, answer.requireEmailVerification], [true, true]);
      }),
  },
  {
    method: 'signOnPolicy.updateSignOnPolicy',
    check: 'is for applications only',
    required: true,
    async run(world) {
      const { client } = await world.member('signing in');
      for (const caller of [client, world.visitor()]) {
        await failsWithStatus(caller.signOnPolicy.updateSignOnPolicy({ requireOwnerApproval: true }), 401, 403);
      }
    },
  },
];
