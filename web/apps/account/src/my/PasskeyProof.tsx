import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions } from '@stoa/ui/Form';
import { prove, type FactorCalls } from '../api/member.ts';
import { beginPasskeyProof } from '../api/passkey.ts';
import type { Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { getPasskey } from '../parts/passkey.ts';
import { PromptNote } from '../parts/PromptNote.tsx';
import { usePrompt } from '../parts/usePrompt.ts';
import { Note } from './Frame.tsx';

export interface PasskeyProofProps {
  calls: FactorCalls;
  onProved: () => void;
  /** The server takes no passkey at this address, or the account has none by now. */
  onUnusable: () => void;
}

/** Shows by a passkey who is signed in. */
export function PasskeyProof({ calls, onProved, onUnusable }: PasskeyProofProps) {
  const text = useAllTexts();
  const prompt = usePrompt();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const isWrong = failure?.code === 'VERIFICATION_FAILED';
  const send = async () => {
    const begun = await beginPasskeyProof(calls);
    if ('failure' in begun) {
      if (begun.failure.problems.some((it) => it.field === 'webauthnData')) onUnusable();
      else setFailure(begun.failure);
      return;
    }
    const { challengeId, options } = begun.value;
    const credential = await prompt.open((signal) => getPasskey(options, { signal }));
    if (credential === null) return;
    const proved = await prove(calls, { webauthnData: { challengeId, credential } });
    if ('value' in proved) onProved();
    else setFailure(proved.failure);
  };
  return (
    <Form
      labelledBy="proof"
      onSubmit={() => {
        if (isSending) return;
        setIsSending(true);
        setFailure(null);
        prompt.forget();
        void send().finally(() => {
          setIsSending(false);
        });
      }}
    >
      <Note failure={isWrong ? null : failure} done={null} />
      <p className="step-quiet">{text.passkey.proofText}</p>
      <PromptNote prompt={prompt} texts={text.passkey} wrong={isWrong ? text.passkey.why.wrong : undefined} />
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.passkey.use}
        </Button>
      </FormActions>
    </Form>
  );
}
