import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import { confirmFactor, type Ask, type Enrolment } from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { AuthenticatorSetup } from '../parts/AuthenticatorSetup.tsx';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Note } from './Frame.tsx';
import type { StepUp } from './useStepUp.ts';

const LENGTH = 6;

export interface AddFactorProps {
  /** Whether the member has shown that the address is theirs; without that none is added. */
  isVerified: boolean;
  isSending: boolean;
  onAdd: (name: string) => void;
}

/** The beginning of another authenticator: what the member calls it. */
export function AddFactor({ isVerified, isSending, onAdd }: AddFactorProps) {
  const text = useAllTexts();
  const [name, setName] = useState('');
  if (!isVerified) return <p className="step-quiet">{text.factorNeedsEmail}</p>;
  return (
    <Form
      labelledBy="add-factor"
      onSubmit={() => {
        onAdd(name.trim());
      }}
    >
      <h3 id="add-factor" className="my-head">
        {text.addFactor}
      </h3>
      <TextField
        label={text.factorName}
        optional={text.optional}
        help={text.factorNameHelp}
        name="factor-name"
        maxLength={100}
        autoComplete="off"
        value={name}
        onChange={setName}
      />
      <FormActions>
        <Button type="submit" pending={isSending}>
          {text.addFactor}
        </Button>
      </FormActions>
    </Form>
  );
}

export interface ConfirmFactorProps {
  ask: Ask;
  stepUp: StepUp;
  enrolment: Enrolment;
  /** With the recovery codes that come with the first one. */
  onConfirmed: (codes: readonly string[]) => void;
  onCancel: () => void;
}

/** What the authenticator is given, and its first code. */
export function ConfirmFactor({ ask, stepUp, enrolment, onConfirmed, onCancel }: ConfirmFactorProps) {
  const text = useAllTexts();
  const [code, setCode] = useState('');
  const [wrong, setWrong] = useState<string | undefined>();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const send = () => {
    if (isSending) return;
    setFailure(null);
    if (code.length < LENGTH) {
      setWrong(code === '' ? text.problem.required : text.problem.code);
      return;
    }
    setIsSending(true);
    void stepUp
      .run(() => confirmFactor(ask, enrolment.factor.id, code))
      .then((answer) => {
        setIsSending(false);
        if (answer === null) return;
        if ('value' in answer) {
          onConfirmed(answer.value);
          return;
        }
        const isWrong = answer.failure.code === 'VERIFICATION_FAILED';
        setWrong(isWrong ? text.problem.code : undefined);
        // An authenticator that waits too long for its code is gone.
        const { failure } = answer;
        const named = failure.code === 'NOT_FOUND' ? { ...failure, code: 'TOO_LATE' } : failure;
        setFailure(isWrong ? null : named);
      });
  };
  return (
    <Form labelledBy="set-up-factor" onSubmit={send}>
      <h3 id="set-up-factor" className="my-head">
        {text.addFactor}
      </h3>
      <Note failure={failure} done={null} />
      <AuthenticatorSetup
        secret={enrolment.secret}
        uri={enrolment.uri}
        code={code}
        onCode={(digits) => {
          setCode(digits);
          setWrong(undefined);
        }}
        error={wrong}
      />
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.verify}
        </Button>
        <Button onPress={onCancel}>{text.cancel}</Button>
      </FormActions>
    </Form>
  );
}
