/** One view or more for each step: adding a step to the union without one here does not compile. */
import type { FactorType, FlowView, PasskeyChallenge, SiteFace, Step } from '@stoa/api';

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

/** Of a member who takes codes by email and has no authenticator. */
const byEmail = (sentTo: string | null): FlowView =>
  viewOf({
    type: 'SECOND_FACTOR',
    factors: ['EMAIL', 'RECOVERY_CODE'],
    rememberDays: 30,
    sentTo,
    sentBy: sentTo === null ? null : 'EMAIL',
    resendAfterSeconds: 0,
    passkey: null,
  });

/** Of a member who takes codes at a number. */
const byPhone = (sentBy: 'SMS' | 'CALL' | null): FlowView =>
  viewOf({
    type: 'SECOND_FACTOR',
    factors: ['SMS', 'CALL', 'RECOVERY_CODE'],
    rememberDays: 30,
    sentTo: sentBy === null ? null : '+49***78',
    sentBy,
    resendAfterSeconds: 0,
    passkey: null,
  });

/** Of a member who has passkeys among other factors. */
export const byPasskey = (factors: FactorType[], n: number, more: Partial<FlowView> = {}): FlowView =>
  viewOf(
    {
      type: 'SECOND_FACTOR',
      factors,
      rememberDays: 30,
      sentTo: null,
      sentBy: null,
      resendAfterSeconds: 0,
      passkey: challenge(n),
    },
    more,
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

const profile = [
  { name: 'firstName', required: true },
  { name: 'lastName', required: false },
];

export const VIEWS: { [Type in Step['type']]: { title: string | RegExp; view: FlowView }[] } = {
  SIGN_IN: [
    {
      title: 'Sign in to Atlas',
      view: viewOf({ type: 'SIGN_IN', email: null, canSignUp: true, canRecover: true, passkey: null }),
    },
    {
      title: 'Sign in to Atlas',
      view: viewOf({ type: 'SIGN_IN', email: null, canSignUp: true, canRecover: true, passkey: challenge(1) }),
    },
    {
      title: 'Sign in to run Atlas',
      view: viewOf(
        { type: 'SIGN_IN', email: null, canSignUp: false, canRecover: true, passkey: null },
        { kind: 'OWNER_SIGN_IN', cancelUrl: null },
      ),
    },
  ],
  SIGN_UP: [
    {
      title: 'Create your account',
      view: viewOf({ type: 'SIGN_UP', email: null, fields: profile, passwordMinLength: 8 }, { kind: 'SIGN_UP' }),
    },
    {
      title: /^Welcome/,
      view: viewOf(
        { type: 'SIGN_UP', email: null, fields: [], passwordMinLength: 8 },
        { kind: 'OWNER_SETUP', cancelUrl: null },
      ),
    },
  ],
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
  ],
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
