/** What needs a proof of who the member is: sent, and sent again once the proof is there. */
import { useCallback, useState } from 'react';
import { PROOF_NEEDED } from '../api/member.ts';
import type { Answer } from '../api/request.ts';

export interface StepUp {
  /** Whether a proof is asked for. */
  isAsked: boolean;
  /** The proof was given, or it won't be. */
  settle: (isProved: boolean) => void;
  /** Sends something; null when the member gave no proof for it. */
  run: <Value>(send: () => Promise<Answer<Value>>) => Promise<Answer<Value> | null>;
}

export function useStepUp(): StepUp {
  const [waiting, setWaiting] = useState<((isProved: boolean) => void) | null>(null);
  const run = useCallback(async <Value>(send: () => Promise<Answer<Value>>) => {
    const answer = await send();
    if (!('failure' in answer) || answer.failure.code !== PROOF_NEEDED) return answer;
    const isProved = await new Promise<boolean>((resolve) => {
      setWaiting(() => resolve);
    });
    setWaiting(null);
    return isProved ? send() : null;
  }, []);
  const settle = (isProved: boolean) => {
    waiting?.(isProved);
  };
  return { isAsked: waiting !== null, settle, run };
}
