import { useCallback, type ReactNode } from 'react';
import { readFactors, type Factor, type FactorAccount, type FactorCalls } from '../api/member.ts';
import { TITLE_ID } from '../page/StepHead.tsx';
import { ProofForm } from './ProofForm.tsx';
import { proofKinds } from './proofKinds.ts';
import { useLoaded } from './useLoaded.ts';
import { useStepUp, type StepUp } from './useStepUp.ts';

/** The factors of an account, and the proof that is asked for before something changes. */
export function useProof(calls: FactorCalls) {
  const loaded = useLoaded(calls, readFactors);
  const { put } = loaded;
  // Factors may be others by now, here or in another browser, and they decide by what the person shows who they are.
  const before = useCallback(async () => {
    const answer = await readFactors(calls);
    if ('value' in answer) put(answer.value);
  }, [calls, put]);
  return { loaded, stepUp: useStepUp(before) };
}

export interface WithProofProps {
  account: FactorAccount;
  calls: FactorCalls;
  factors: readonly Factor[];
  stepUp: StepUp;
  children: ReactNode;
}

/** What may need a proof. While one is asked for it is hidden, and keeps what was typed. */
export function WithProof({ account, calls, factors, stepUp, children }: WithProofProps) {
  return (
    <>
      {stepUp.isAsked && (
        <ProofForm
          key={proofKinds(factors, account.emailVerified).join(' ')}
          account={account}
          calls={calls}
          factors={factors}
          onDone={(isProved) => {
            stepUp.settle(isProved);
            requestAnimationFrame(() => document.getElementById(TITLE_ID)?.focus());
          }}
        />
      )}
      <div hidden={stepUp.isAsked}>{children}</div>
    </>
  );
}
