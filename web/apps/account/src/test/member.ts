/** What the server answers who is signed in. */
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
