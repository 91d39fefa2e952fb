/** By what a member shows once more who they are. */
import type { Factor } from '../api/member.ts';

export type ProofKind = 'PASSWORD' | Factor['type'] | 'RECOVERY_CODE';

/** The kinds of factors, the one that is offered first at the beginning. */
const KINDS: readonly Factor['type'][] = ['TOTP', 'EMAIL', 'SMS', 'CALL'];

/** By what a member with these factors shows who they are. No code is sent to an address that nobody has shown to be theirs. */
export function proofKinds(factors: readonly Factor[], isVerified: boolean): readonly [ProofKind, ...ProofKind[]] {
  if (factors.length === 0) return ['PASSWORD'];
  const has = (type: Factor['type']) => factors.some((it) => it.type === type);
  const [first, ...others] = KINDS.filter((it) => has(it) && (it !== 'EMAIL' || isVerified));
  return first === undefined ? ['RECOVERY_CODE'] : [first, ...others, 'RECOVERY_CODE'];
}

/** The kinds whose codes are sent. */
export type SentKind = 'EMAIL' | 'SMS' | 'CALL';

export const isSent = (kind: ProofKind): kind is SentKind => kind === 'EMAIL' || kind === 'SMS' || kind === 'CALL';
