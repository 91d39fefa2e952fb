import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import type { FactorCalls } from '../api/member.ts';
import { beginPasskey, keepPasskey } from '../api/passkey.ts';
import type { Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { createPasskey } from '../parts/passkey.ts';
import { PromptNote } from '../parts/PromptNote.tsx';
import { usePrompt } from '../parts/usePrompt.ts';
import { Note } from './Frame.tsx';
import type { StepUp } from './useStepUp.ts';

/** Characters of a name. */
export const LONGEST_NAME = 100;

export interface AddPasskeyProps {
  calls: FactorCalls;
  stepUp: StepUp;
  /** It signs in after the password alone, never in its place. */
  isSecond: boolean;
  /** With the recovery codes that come with the first factor. */
  onAdded: (codes: readonly string[]) => void;
  onCancel: () => void;
}

/** Another passkey: what the member calls it, and the browser's prompt. */
export function AddPasskey({ calls, stepUp, isSecond, onAdded, onCancel }: AddPasskeyProps) {
  const text = useAllTexts();
  const [name, setName] = useState('');
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isRefused, setIsRefused] = useState(false);
  const [isSending, setIsSending] = useState(false);
  const prompt = usePrompt();
  const add = async () => {
    const begun = await stepUp.run(() => beginPasskey(calls));
    if (begun === null) return;
    if ('failure' in begun) {
      setFailure(begun.failure);
      return;
    }
    const { id, options } = begun.value;
    const credential = await prompt.open((signal) => createPasskey(options, { signal }));
    if (credential === null) return;
    const kept = await stepUp.run(() => keepPasskey(calls, id, credential, name.trim()));
    if (kept === null) return;
    if ('value' in kept) {
      onAdded(kept.value);
      return;
    }
    const isOfPasskey = kept.failure.code === 'VERIFICATION_FAILED';
    setIsRefused(isOfPasskey);
    setFailure(isOfPasskey ? null : kept.failure);
  };
  const tooMany = failure?.code === 'TOO_MANY' ? text.passkey.why.tooMany : undefined;
  return (
    <Form
      labelledBy="add-passkey"
      onSubmit={() => {
        if (isSending) return;
        setIsSending(true);
        setFailure(null);
        setIsRefused(false);
        prompt.forget();
        void add().finally(() => {
          setIsSending(false);
        });
      }}
    >
      <h3 id="add-passkey" className="my-head">
        {text.passkey.add}
      </h3>
      <p className="step-quiet">{isSecond ? text.passkey.secondText : text.passkey.createText}</p>
      <Note failure={tooMany === undefined ? failure : null} done={null} />
      <PromptNote
        prompt={prompt}
        texts={text.passkey}
        wrong={tooMany ?? (isRefused ? text.passkey.why.failed : undefined)}
      />
      <TextField
        label={text.factorName}
        optional={text.optional}
        help={text.passkey.nameHelp}
        name="passkey-name"
        maxLength={LONGEST_NAME}
        autoComplete="off"
        autoFocus
        value={name}
        onChange={setName}
      />
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.passkey.add}
        </Button>
        <Button onPress={onCancel}>{text.cancel}</Button>
      </FormActions>
    </Form>
  );
}
