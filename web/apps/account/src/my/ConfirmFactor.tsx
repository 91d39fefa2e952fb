import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { CodeField } from '@stoa/ui/CodeField';
import { Form, FormActions } from '@stoa/ui/Form';
import { confirmFactor, type Enrolment, type FactorCalls } from '../api/member.ts';
import type { Answer, Failure } from '../api/request.ts';
import { AuthenticatorSetup } from '../parts/AuthenticatorSetup.tsx';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { useArrivedCode } from '../parts/push.ts';
import { Note, type Done } from './Frame.tsx';
import type { StepUp } from './useStepUp.ts';

const LENGTH = 6;

export interface ConfirmFactorProps {
  calls: FactorCalls;
  stepUp: StepUp;
  enrolment: Enrolment;
  /** Has another code sent. */
  again: () => Promise<Answer<Enrolment>>;
  /** Another code was sent. */
  onSentAgain: (enrolment: Enrolment) => void;
  /** With the recovery codes that come with the first one. */
  onConfirmed: (codes: readonly string[]) => void;
  onCancel: () => void;
}

/** What the authenticator is given, or where a code was sent, and the first code. */
export function ConfirmFactor(props: ConfirmFactorProps) {
  const { calls, stepUp, enrolment, again, onSentAgain, onConfirmed, onCancel } = props;
  const text = useAllTexts();
  const [code, setCode] = useState('');
  const [wrong, setWrong] = useState<string | undefined>();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const [isSending, setIsSending] = useState(false);
  const send = (digits: string) => {
    if (isSending) return;
    setFailure(null);
    setDone(null);
    if (digits.length < LENGTH) {
      setWrong(digits === '' ? text.problem.required : text.problem.code);
      return;
    }
    setIsSending(true);
    void stepUp
      .run(() => confirmFactor(calls, enrolment.factor.id, digits))
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
  const sendAgain = () => {
    if (isSending) return;
    setIsSending(true);
    setDone(null);
    void stepUp.run(again).then((answer) => {
      setIsSending(false);
      if (answer === null) return;
      setFailure('failure' in answer ? answer.failure : null);
      if ('failure' in answer) return;
      type('');
      setDone({ text: text.resent });
      onSentAgain(answer.value);
    });
  };
  const type = (digits: string) => {
    setCode(digits);
    setWrong(undefined);
  };
  useArrivedCode('isPushed' in enrolment && !isSending, (digits) => {
    type(digits);
    send(digits);
  });
  return (
    <Form
      labelledBy="set-up-factor"
      onSubmit={() => {
        send(code);
      }}
    >
      <h3 id="set-up-factor" className="my-head">
        {'secret' in enrolment ? text.addFactor : 'sentTo' in enrolment ? text.sentFactor : text.push.codeTitle}
      </h3>
      <Note failure={failure} done={done} />
      {'secret' in enrolment ? (
        <AuthenticatorSetup secret={enrolment.secret} uri={enrolment.uri} code={code} onCode={type} error={wrong} />
      ) : (
        <>
          <p className="step-quiet">
            {'sentTo' in enrolment ? text.codeSentTo({ where: enrolment.sentTo }) : text.push.codeText}
          </p>
          <CodeField
            label={text.codeDigits({ n: LENGTH })}
            name="code"
            length={LENGTH}
            value={code}
            onChange={type}
            error={wrong}
          />
          <Button variant="link" onPress={sendAgain}>
            {text.resend}
          </Button>
        </>
      )}
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.verify}
        </Button>
        <Button onPress={onCancel}>{text.cancel}</Button>
      </FormActions>
    </Form>
  );
}
