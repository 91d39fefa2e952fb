/** From the server's stable codes to sentences of the catalogue. A code that is not here shows the server's own sentence. */
import type { Catalogue } from './languages.ts';

type ProblemKey = keyof Catalogue['problem'];

const KEYS: Record<string, ProblemKey> = {
  REQUIRED: 'required',
  REQUIRED_FIELD: 'required',
  INVALID_CREDENTIALS: 'credentials',
  '-19976': 'credentials',
  INVALID_EMAIL: 'email',
  EMAIL_TAKEN: 'emailTaken',
  '-19995': 'emailTaken',
  PASSWORD_TOO_SHORT: 'passwordShort',
  PASSWORD_TOO_LONG: 'passwordLong',
  PASSWORD_COMMON: 'passwordCommon',
  COMMON_PASSWORD: 'passwordCommon',
  CONTEXT_PASSWORD: 'passwordContext',
  PASSWORD_CONTEXT: 'passwordContext',
  LEAKED_PASSWORD: 'passwordLeaked',
  PASSWORD_LEAKED: 'passwordLeaked',
  '-19973': 'passwordReset',
  INVALID_CODE: 'code',
  VERIFICATION_FAILED: 'code',
  THROTTLED_FEATURE: 'tooMany',
  STEP_CHANGED: 'movedOn',
  INVALID_STATE_TOKEN: 'expired',
  REDIRECT_URI_NOT_ALLOWED: 'returnRefused',
  CLIENT_NOT_FOUND: 'client',
  invalid_request: 'address',
  SITE_NOT_FOUND: 'site',
  MEMBER_BLOCKED: 'blocked',
  DELETION_WAITS: 'deletionWaits',
  INVALID_LINK: 'link',
  '-19971': 'captcha',
  '-19970': 'captcha',
  CAPTCHA_ELSEWHERE: 'captchaElsewhere',
  UNAVAILABLE: 'busy',
};

/** The sentence to show. `passwordMinLength` fills the one text that needs a number. */
export function problemText(text: Catalogue, code: string, message: string, passwordMinLength?: number): string {
  const key = KEYS[code];
  if (key === undefined) return message;
  if (key === 'passwordShort')
    return passwordMinLength === undefined ? message : text.problem.passwordShort({ n: passwordMinLength });
  return text.problem[key];
}
