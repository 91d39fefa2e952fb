/** By what a member shows once more who they are. */
import type { Factor } from '../api/member.ts';

export type ProofKind = 'PASSWORD' | 'TOTP' | 'EMAIL' | 'RECOVERY_CODE';

/** By what a member with these factors shows who they are. No code is sent to an address that nobody has shown to be theirs. */
export function proofKinds(factors: readonly Factor[], isVerified: boolean): readonly [ProofKind, ...ProofKind[]] {
  if (factors.length === 0) return ['PASSWORD'];
  const has = (type: Factor['type']) => factors.some((it) => it.type === type);
  const kinds: ProofKind[] = [];
  if (has('TOTP')) kinds.push('TOTP');
  if (has('EMAIL') && isVerified) kinds.push('EMAIL');
  const [first, ...others] = kinds;
  return first === undefined ? ['RECOVERY_CODE'] : [first, ...others, 'RECOVERY_CODE'];
}
