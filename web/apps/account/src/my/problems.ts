/** The same as text/problems.ts for what can be wrong on the pages of an account. */
import type { AllTexts } from '../text/later.ts';
import { problemText } from '../text/problems.ts';

const KEYS: Record<string, keyof AllTexts['wrong']> = {
  OLD_PASSWORD: 'oldPassword',
  MAX_LENGTH: 'tooLong',
  WEB_ADDRESS: 'webAddress',
  TOO_MANY: 'tooManyFactors',
  COMMUNITY_JOIN_IMPOSSIBLE: 'profilesClosed',
  EMAIL_VERIFICATION_REQUIRED: 'emailUnverified',
  PERMISSION_DENIED: 'notAllowed',
  TOO_LATE: 'tooLate',
  DAYS_CHANGED: 'daysChanged',
  FORMAT: 'format',
  PHONE_NUMBER: 'phone',
  INSUFFICIENT_USER_AUTHENTICATION: 'proofNeeded',
};

/** The code for TOO_MANY of browsers that are asked by notifications. */
export const TOO_MANY_BROWSERS = 'TOO_MANY_BROWSERS';

/** The sentence to show. `passwordMinLength` fills the one text that needs a number. */
export function wrongText(text: AllTexts, code: string, message: string, passwordMinLength?: number): string {
  if (code === TOO_MANY_BROWSERS) return text.push.why.tooMany;
  const key = KEYS[code];
  return key === undefined ? problemText(text, code, message, passwordMinLength) : text.wrong[key];
}
