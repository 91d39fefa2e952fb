/** By what those who are signed in show once more who they are. */
import type { Factor } from '../api/member.ts';
import { hasPasskeys } from '../parts/passkey.ts';

export type ProofKind = Factor['type'] | 'RECOVERY_CODE';

/** The kinds of factors, the one that is offered first at the beginning. */
const KINDS: readonly Factor['type'][] = ['WEBAUTHN', 'TOTP', 'PUSH', 'EMAIL', 'SMS', 'CALL'];

/**
 * By what those with these factors show who they are. No code is sent to an address that was not shown to be theirs, and a
 * passkey that this browser can't use comes last. The password counts here for who has nothing else, also where it is a factor.
 */
export function proofKinds(factors: readonly Factor[], isVerified: boolean): readonly [ProofKind, ...ProofKind[]] {
  if (factors.every((it) => it.type === 'PASSWORD')) return ['PASSWORD'];
  const has = (type: Factor['type']) => factors.some((it) => it.type === type && it.needsReenrolment !== true);
  const isUsable = (it: Factor['type']) => (it === 'EMAIL' ? isVerified : it !== 'WEBAUTHN' || hasPasskeys());
  const last: ProofKind[] = has('WEBAUTHN') && !hasPasskeys() ? ['WEBAUTHN'] : [];
  const [first, ...others] = KINDS.filter((it) => has(it) && isUsable(it));
  return first === undefined ? ['RECOVERY_CODE', ...last] : [first, ...others, 'RECOVERY_CODE', ...last];
}

/** The kinds whose codes are sent. */
export type SentKind = 'EMAIL' | 'SMS' | 'CALL';

export const isSent = (kind: ProofKind): kind is SentKind => kind === 'EMAIL' || kind === 'SMS' || kind === 'CALL';
