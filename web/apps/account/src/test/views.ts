/** One view or more for each step: adding a step to the union without one here does not compile. */
import type { FactorType, FlowView, PasskeyChallenge, Provider, ProviderFailure, SiteFace, Step } from '@stoa/api';

export const SITE: SiteFace = {
  id: 's1',
  name: 'Atlas',
  language: null,
  logoUrl: null,
  colours: null,
  termsUrl: null,
  privacyUrl: null,
};

export function viewOf(step: Step, more: Partial<FlowView> = {}): FlowView {
  return {
    token: 'aaaa.next',
    kind: 'SIGN_IN',
    site: SITE,
    step,
    problems: [],
    canGoBack: false,
    cancelUrl: '/',
    clientId: 'c1',
    homeUrl: 'https://atlas.example',
    ...more,
  };
}

/** What a passkey is asked, the `n`th time: the bytes 1, 2 and n. */
export const challenge = (n: number, timeout = 300_000): PasskeyChallenge => ({
  challengeId: `c0ffee00-0000-4000-8000-00000000000${n}`,
  options: JSON.stringify({
    challenge: ['AQIA', 'AQIB', 'AQIC', 'AQID'][n],
    timeout,
    rpId: 'localhost',
    allowCredentials: [],
    userVerification: 'required',
  }),
  expiresDate: '2026-01-02T12:05:00.000Z',
});

/** What one is made with, the `n`th time. */
export const creation = (n: number): PasskeyChallenge => ({
  ...challenge(n),
  options: JSON.stringify({
    challenge: ['AQIA', 'AQIB', 'AQIC', 'AQID'][n],
    timeout: 300_000,
    rp: { id: 'localhost', name: 'Atlas' },
    user: { id: '_-8', name: 'mara@example.org', displayName: 'Mara' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    excludeCredentials: [{ id: 'BAUG', type: 'public-key', transports: ['internal'] }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
  }),
});

/** Of a member with these factors. */
function withFactors(
  factors: FactorType[],
  step: Partial<Extract<Step, { type: 'SECOND_FACTOR' }>> = {},
  more: Partial<FlowView> = {},
): FlowView {
  const none = { sentTo: null, sentBy: null, resendAfterSeconds: 0, passkey: null };
  return viewOf({ type: 'SECOND_FACTOR', factors, rememberDays: 30, ...none, ...step }, more);
}

/** Of a member who takes codes by email and has no authenticator. */
const byEmail = (sentTo: string | null): FlowView =>
  withFactors(['EMAIL', 'RECOVERY_CODE'], { sentTo, sentBy: sentTo === null ? null : 'EMAIL' });

/** Of a member who takes codes at a number. */
const byPhone = (sentBy: 'SMS' | 'CALL' | null): FlowView =>
  withFactors(['SMS', 'CALL', 'RECOVERY_CODE'], { sentTo: sentBy === null ? null : '+49***78', sentBy });

/** Of a member who has passkeys among other factors. */
export const byPasskey = (factors: FactorType[], n: number, more: Partial<FlowView> = {}): FlowView =>
  withFactors(factors, { passkey: challenge(n) }, more);

/** Of a member who came by a provider, and whose password is asked for. */
export const byPassword = (factors: FactorType[], more: Partial<FlowView> = {}): FlowView =>
  withFactors(factors, {}, more);

/** Of a member whose browser can be asked, among other factors. */
export const byPush = (factors: FactorType[] = ['PUSH', 'RECOVERY_CODE'], more: Partial<FlowView> = {}): FlowView =>
  withFactors(factors, {}, more);

/** A browser is asked. */
export const pushed: FlowView = viewOf(
  { type: 'AWAIT_PUSH', number: '42', expiresDate: '2026-01-02T12:02:00.000Z' },
  { canGoBack: true },
);

/** Of an owner or editor, whose browsers are not remembered: with a passkey, the `n`th time, or without. */
export const byOperator = (n: number | null): FlowView =>
  withFactors(
    n === null ? ['TOTP', 'RECOVERY_CODE'] : ['WEBAUTHN', 'TOTP', 'RECOVERY_CODE'],
    { rememberDays: 0, passkey: n === null ? null : challenge(n) },
    { kind: 'OWNER_SIGN_IN', cancelUrl: null },
  );

/** A factor is to be set up: an authenticator, or a passkey. */
export const enrolling = (passkey: PasskeyChallenge | null, more: Partial<FlowView> = {}): FlowView =>
  viewOf(
    {
      type: 'ENROL_FACTOR',
      secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
      uri: 'otpauth://totp/Atlas:m%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Atlas',
      until: null,
      passkey,
    },
    more,
  );

/** The identity providers of the site. */
export const PROVIDERS: Provider[] = [
  { id: 'c0ffee00-0000-4000-8000-0000000000a1', label: 'Acme' },
  { id: 'c0ffee00-0000-4000-8000-0000000000a2', label: 'University of Lisbon' },
];

/** With which a member signs in without the password. */
export const signInBy = (providers: Provider[], more: Partial<FlowView> = {}): FlowView =>
  viewOf({ type: 'SIGN_IN', email: null, canSignUp: true, canRecover: true, passkey: null, providers }, more);

export const linking = (more: Partial<FlowView> = {}): FlowView =>
  viewOf(
    { type: 'LINK_PROVIDER', provider: 'Acme', email: 'mara@example.org', canRecover: true },
    { canGoBack: true, ...more },
  );

export const providerFailed = (reason: ProviderFailure, more: Partial<FlowView> = {}): FlowView =>
  viewOf(
    { type: 'PROVIDER_FAILED', provider: { id: 'c0ffee00-0000-4000-8000-0000000000a1', label: 'Acme' }, reason },
    { canGoBack: true, ...more },
  );

const FAILURES: ProviderFailure[] = ['DECLINED', 'UNAVAILABLE', 'NO_EMAIL', 'NO_ACCOUNT', 'REFUSED'];

const profile = [
  { name: 'firstName', required: true },
  { name: 'lastName', required: false },
];

export const VIEWS: { [Type in Step['type']]: { title: string | RegExp; view: FlowView }[] } = {
  SIGN_IN: [
    {
      title: 'Sign in to Atlas',
      view: viewOf({ type: 'SIGN_IN', email: null, canSignUp: true, canRecover: true, passkey: null, providers: [] }),
    },
    {
      title: 'Sign in to Atlas',
      view: viewOf({
        type: 'SIGN_IN',
        email: null,
        canSignUp: true,
        canRecover: true,
        passkey: challenge(1),
        providers: [],
      }),
    },
    {
      title: 'Sign in to run Atlas',
      view: viewOf(
        { type: 'SIGN_IN', email: null, canSignUp: false, canRecover: true, passkey: null, providers: [] },
        { kind: 'OWNER_SIGN_IN', cancelUrl: null },
      ),
    },
    { title: 'Sign in to Atlas', view: signInBy(PROVIDERS) },
  ],
  SIGN_UP: [
    {
      title: 'Create your account',
      view: viewOf(
        { type: 'SIGN_UP', email: null, fields: profile, passwordMinLength: 8, providers: [] },
        { kind: 'SIGN_UP' },
      ),
    },
    {
      title: /^Welcome/,
      view: viewOf(
        { type: 'SIGN_UP', email: null, fields: [], passwordMinLength: 8, providers: [] },
        { kind: 'OWNER_SETUP', cancelUrl: null },
      ),
    },
    {
      title: 'Create your account',
      view: viewOf(
        { type: 'SIGN_UP', email: null, fields: [], passwordMinLength: 8, providers: PROVIDERS },
        { kind: 'SIGN_UP' },
      ),
    },
  ],
  LINK_PROVIDER: [{ title: 'Connect Acme to your account', view: linking() }],
  PROVIDER_FAILED: FAILURES.map((reason) => ({
    title: 'Sign-in with Acme did not work',
    view: providerFailed(reason),
  })),
  VERIFY_EMAIL: [
    {
      title: 'Check your email',
      view: viewOf({ type: 'VERIFY_EMAIL', emailHint: 'm…@example.org', resendAfterSeconds: 30 }, { canGoBack: true }),
    },
  ],
  AWAIT_APPROVAL: [{ title: 'Almost there', view: viewOf({ type: 'AWAIT_APPROVAL', emailHint: 'm…@example.org' }) }],
  MISSING_FIELDS: [{ title: 'A few more details', view: viewOf({ type: 'MISSING_FIELDS', fields: profile }) }],
  SECOND_FACTOR: [
    {
      title: 'Confirm that it is you',
      view: viewOf(
        {
          type: 'SECOND_FACTOR',
          factors: ['TOTP', 'EMAIL', 'RECOVERY_CODE'],
          rememberDays: 30,
          sentTo: null,
          sentBy: null,
          resendAfterSeconds: 30,
          passkey: null,
        },
        { canGoBack: true },
      ),
    },
    { title: 'Confirm that it is you', view: byEmail(null) },
    { title: 'Confirm that it is you', view: byEmail('m***@example.org') },
    { title: 'Confirm that it is you', view: byPhone(null) },
    { title: 'Confirm that it is you', view: byPhone('SMS') },
    { title: 'Confirm that it is you', view: byPhone('CALL') },
    { title: 'Confirm that it is you', view: byPasskey(['WEBAUTHN', 'TOTP', 'RECOVERY_CODE'], 1) },
    { title: 'Confirm that it is you', view: byOperator(1) },
    { title: 'Confirm that it is you', view: byOperator(null) },
    { title: 'Confirm that it is you', view: byPasskey(['WEBAUTHN', 'PUSH', 'RECOVERY_CODE'], 1) },
    { title: 'Confirm that it is you', view: byPush() },
    { title: 'Confirm that it is you', view: byPassword(['PASSWORD']) },
  ],
  AWAIT_PUSH: [{ title: 'Look at your other browser', view: pushed }],
  OFFER_FACTOR: [
    {
      title: 'Protect your account',
      view: viewOf({ type: 'OFFER_FACTOR', until: '2026-12-24T12:00:00.000Z' }, { canGoBack: true }),
    },
    { title: 'Protect your account', view: viewOf({ type: 'OFFER_FACTOR', until: null }, { canGoBack: true }) },
  ],
  ENROL_FACTOR: [
    { title: 'Protect your account', view: enrolling(null) },
    { title: 'Protect your account', view: enrolling(creation(1)) },
  ],
  RECOVERY_CODES: [
    {
      title: 'Keep these recovery codes',
      view: viewOf({ type: 'RECOVERY_CODES', codes: ['ABCD-EFGH-IJKL-MNOP', 'QRST-UVWX-YZ23-4567'] }),
    },
    { title: 'Keep these recovery codes', view: viewOf({ type: 'RECOVERY_CODES', codes: [] }) },
  ],
  RECOVER_REQUEST: [
    { title: 'Reset your password', view: viewOf({ type: 'RECOVER_REQUEST', email: 'a@example.org' }) },
  ],
  RECOVER_SENT: [{ title: 'Check your email', view: viewOf({ type: 'RECOVER_SENT', emailHint: 'a@example.org' }) }],
  NEW_PASSWORD: [
    {
      title: 'Choose a new password',
      view: viewOf({ type: 'NEW_PASSWORD', emailHint: 'a@example.org', passwordMinLength: 8 }),
    },
    {
      title: /^Welcome/,
      view: viewOf({ type: 'NEW_PASSWORD', emailHint: null, passwordMinLength: 10 }, { kind: 'OWNER_SETUP' }),
    },
  ],
  CONSENT: [
    {
      title: 'Let Ledger act for you at Atlas?',
      view: viewOf(
        {
          type: 'CONSENT',
          appName: 'Ledger',
          host: 'ledger.example',
          account: 'mara@example.org',
          scopes: ['items:read:posts', 'members:read'],
        },
        { cancelUrl: null },
      ),
    },
    {
      title: 'Let Ledger act for you at Atlas?',
      view: viewOf(
        { type: 'CONSENT', appName: 'Ledger', host: '', account: 'mara@example.org', scopes: [] },
        { cancelUrl: null },
      ),
    },
  ],
  CONFIRM_SIGN_OUT: [
    {
      title: 'Sign out of Atlas?',
      view: viewOf({ type: 'CONFIRM_SIGN_OUT', displayName: 'Mara' }, { kind: 'SIGN_OUT' }),
    },
  ],
  REDIRECT: [{ title: 'This cannot go on', view: viewOf({ type: 'REDIRECT', url: 'javascript:alert(1)' }) }],
  POST_MESSAGE: [
    {
      title: 'All done',
      view: viewOf({
        type: 'POST_MESSAGE',
        origin: 'https://app.example',
        code: 'c',
        state: 's',
        error: null,
        errorDescription: null,
      }),
    },
  ],
  DONE: [
    { title: 'You are signed in', view: viewOf({ type: 'DONE', message: 'SIGNED_IN' }) },
    { title: 'You are signed out', view: viewOf({ type: 'DONE', message: 'SIGNED_OUT' }) },
    { title: 'Your password was changed', view: viewOf({ type: 'DONE', message: 'PASSWORD_CHANGED' }) },
    { title: 'You are ready', view: viewOf({ type: 'DONE', message: 'OWNER_READY' }) },
  ],
  FAILED: [
    {
      title: 'This cannot go on',
      view: viewOf({ type: 'FAILED', code: 'ODD', message: 'The server says why.' }),
    },
  ],
};
