/** What the server answers who is signed in. */
import type { OwnerAccount } from '../api/owner.ts';
import type { Reply } from './page.tsx';
import { SITE } from './views.ts';

export const ok = (body: object): Reply => ({ status: 200, body });
export const refused = (status: number, code: string): Reply => ({
  status,
  body: { message: 'no', details: { applicationError: { code, description: 'no', data: {} } } },
});
export const broken = (field: string, violatedRule: string): Reply => ({
  status: 400,
  body: { details: { validationError: { fieldViolations: [{ field, violatedRule, description: 'no', data: {} }] } } },
});

export const account = (more: object = {}): Reply =>
  ok({
    site: SITE,
    access_token: 'first token',
    expires_in: 600,
    memberId: 'm1',
    email: 'mara@example.org',
    emailVerified: true,
    hasPassword: true,
    passwordMinLength: 8,
    deletionDays: 14,
    ...more,
  });

export const factors = (more: object = {}): Reply =>
  ok({
    policy: 'OPTIONAL',
    addable: ['TOTP', 'EMAIL'],
    factors: [],
    recoveryCodesLeft: 0,
    rememberedBrowsers: 0,
    ...more,
  });

/** Sign-ins of an owner. */
export const HERE = {
  id: 'a',
  siteName: 'Atlas',
  device: 'Firefox · Linux',
  address: '192.0.2.7',
  place: { city: 'Basel', country: 'CH' },
  createdDate: '2026-01-02T12:00:00.000Z',
  isCurrent: true,
};
export const PHONE = { ...HERE, id: 'b', device: 'Safari · iPhone', isCurrent: false };
export const UNKNOWN = {
  ...HERE,
  id: 'c',
  device: null,
  address: null,
  place: null,
  siteName: 'Beside',
  isCurrent: false,
};

export const ownerAccount = (more: Partial<OwnerAccount> = {}): Reply =>
  ok({
    site: SITE,
    email: 'olga@example.org',
    role: 'OWNER',
    passwordMinLength: 8,
    sessions: [HERE, PHONE, UNKNOWN],
    problems: [],
    ...more,
  });

/** The refusal until a proof is there, and the answer to one. */
export const NEEDED = refused(403, 'INSUFFICIENT_USER_AUTHENTICATION');
export const proved = ok({ provedUntil: '2026-01-02T12:10:00.000Z' });
