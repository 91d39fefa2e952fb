/** What needs a proof of who is signed in: sent, and sent again once the proof is there. */
import { useCallback, useState } from 'react';
import { PROOF_NEEDED } from '../api/member.ts';
import type { Answer } from '../api/request.ts';

export interface StepUp {
  /** Whether a proof is asked for. */
  isAsked: boolean;
  /** The proof was given, or it won't be. */
  settle: (isProved: boolean) => void;
  /** Sends something; null when no proof was given for it. */
  run: <Value>(send: () => Promise<Answer<Value>>) => Promise<Answer<Value> | null>;
}

/** `before` is waited for before a proof is asked for. */
export function useStepUp(before: () => Promise<unknown>): StepUp {
  /** Everything that waits goes on by one proof. */
  const [waiting, setWaiting] = useState<readonly ((isProved: boolean) => void)[]>([]);
  const run = useCallback(
    async <Value>(send: () => Promise<Answer<Value>>) => {
      const answer = await send();
      if (!('failure' in answer) || answer.failure.code !== PROOF_NEEDED) return answer;
      await before();
      const isProved = await new Promise<boolean>((resolve) => {
        setWaiting((others) => [...others, resolve]);
      });
      return isProved ? send() : null;
    },
    [before],
  );
  const settle = (isProved: boolean) => {
    setWaiting([]);
    for (const resolve of waiting) resolve(isProved);
  };
  return { isAsked: waiting.length > 0, settle, run };
}
