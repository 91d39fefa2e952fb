import { useEffect, useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { CodeField } from '@stoa/ui/CodeField';
import { Form, FormActions } from '@stoa/ui/Form';
import { checkCode, sendCode, type Ask, type MemberAccount } from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { ChangeEmail } from './ChangeEmail.tsx';
import { Note } from './Frame.tsx';
import type { StepUp } from './useStepUp.ts';

const LENGTH = 6;

export interface EmailPartProps {
  account: MemberAccount;
  ask: Ask;
  stepUp: StepUp;
  onVerified: () => void;
  /** The account has this address now, which was shown to be the member's. */
  onChanged: (email: string) => void;
}

/** The address, a code that shows that it is the member's, and another one in its place. */
export function EmailPart({ account, ask, stepUp, onVerified, onChanged }: EmailPartProps) {
  const text = useAllTexts();
  /** By what a code is checked that was sent. */
  const [stateToken, setStateToken] = useState<string | null>(null);
  const [code, setCode] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [isChanging, setIsChanging] = useState(false);
  const [isChanged, setIsChanged] = useState(false);
  const head = useRef<HTMLHeadingElement>(null);
  const wasChanging = useRef(isChanging);
  // The button that closed the form went with it.
  useEffect(() => {
    if (wasChanging.current && !isChanging) head.current?.focus();
    wasChanging.current = isChanging;
  }, [isChanging]);
  const begin = () => {
    if (isSending) return;
    setIsSending(true);
    void sendCode(ask, account.memberId).then((answer) => {
      setIsSending(false);
      setCode('');
      setIsWrong(false);
      setFailure('failure' in answer ? answer.failure : null);
      if ('value' in answer) setStateToken(answer.value);
    });
  };
  const check = (digits: string, sent: string) => {
    if (isSending) return;
    if (digits.length < LENGTH) {
      setIsWrong(true);
      return;
    }
    setIsSending(true);
    void checkCode(ask, sent, digits).then((answer) => {
      setIsSending(false);
      if ('value' in answer) {
        setStateToken(null);
        onVerified();
        return;
      }
      const isOfCode = answer.failure.code === 'VERIFICATION_FAILED' || answer.failure.code === 'INVALID_STATE_TOKEN';
      setIsWrong(isOfCode);
      setFailure(isOfCode ? null : answer.failure);
    });
  };
  return (
    <section className="my-part" aria-labelledby="email">
      <h2 id="email" ref={head} tabIndex={-1} className="my-head">
        {text.email}
      </h2>
      <Note failure={failure} done={isChanged ? { text: text.emailChanged({ email: account.email }) } : null} />
      <p>
        <bdi>{account.email}</bdi>
        <br />
        <span role="status" className="step-quiet">
          {account.emailVerified ? text.emailConfirmed : text.emailUnconfirmed}
        </span>
      </p>
      {isChanging && (
        <ChangeEmail
          ask={ask}
          stepUp={stepUp}
          onChanged={(email) => {
            setIsChanging(false);
            setIsChanged(true);
            setFailure(null);
            onChanged(email);
          }}
          onCancel={() => {
            setIsChanging(false);
          }}
        />
      )}
      {!isChanging && (account.emailVerified || stateToken === null) && (
        <div className="my-actions">
          {!account.emailVerified && (
            <Button pending={isSending} onPress={begin}>
              {text.confirmEmail}
            </Button>
          )}
          <Button
            onPress={() => {
              setIsChanging(true);
              setIsChanged(false);
            }}
          >
            {text.changeEmail}
          </Button>
        </div>
      )}
      {!isChanging && !account.emailVerified && stateToken !== null && (
        <Form
          labelledBy="email"
          onSubmit={() => {
            check(code, stateToken);
          }}
        >
          <p className="step-quiet">{text.codeSentTo({ where: account.email })}</p>
          <CodeField
            label={text.codeDigits({ n: LENGTH })}
            name="email-code"
            length={LENGTH}
            value={code}
            onChange={(digits) => {
              setCode(digits);
              setIsWrong(false);
            }}
            error={isWrong ? text.problem.code : undefined}
          />
          <FormActions>
            <Button type="submit" variant="primary" pending={isSending}>
              {text.verify}
            </Button>
          </FormActions>
          <Button variant="link" onPress={begin}>
            {text.resend}
          </Button>
        </Form>
      )}
    </section>
  );
}
