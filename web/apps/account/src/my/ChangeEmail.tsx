import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { CodeField } from '@stoa/ui/CodeField';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import { EMAIL_IN_USE } from '../api/emailChange.ts';
import { beginEmailChange, confirmEmailChange, type Ask } from '../api/member.ts';
import type { Answer, Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Note } from './Frame.tsx';
import type { StepUp } from './useStepUp.ts';

const LENGTH = 6;

export interface ChangeEmailProps {
  ask: Ask;
  stepUp: StepUp;
  onChanged: (email: string) => void;
  onCancel: () => void;
}

/** Another address, and the code that went there. */
export function ChangeEmail({ ask, stepUp, onChanged, onCancel }: ChangeEmailProps) {
  const text = useAllTexts();
  const [email, setEmail] = useState('');
  /** Where the last code went; null before. */
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [isSentAgain, setIsSentAgain] = useState(false);
  const [code, setCode] = useState('');
  /** What is wrong with what was typed last. */
  const [wrong, setWrong] = useState<string | undefined>();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const send = <Value,>(ask: () => Promise<Answer<Value>>, take: (value: Value) => void) => {
    if (isSending) return;
    setIsSending(true);
    void stepUp.run(ask).then((answer) => {
      setIsSending(false);
      if (answer === null) return;
      const isFailure = 'failure' in answer;
      const sentence = isFailure ? wrongOf(answer.failure) : undefined;
      setWrong(sentence);
      setFailure(isFailure && sentence === undefined ? answer.failure : null);
      if (!isFailure) take(answer.value);
    });
  };
  const wrongOf = ({ code, problems }: Failure): string | undefined => {
    if (code === 'VERIFICATION_FAILED') return text.problem.code;
    if (code === EMAIL_IN_USE) return text.wrong.emailInUse;
    const found = problems.find((it) => it.field === 'email');
    if (found === undefined) return undefined;
    return found.code === 'VALIDATION' ? text.wrong.sameEmail : text.problem.email;
  };
  const begin = () => {
    const wanted = email.trim();
    if (wanted === '') {
      setWrong(text.problem.required);
      return;
    }
    send(
      () => beginEmailChange(ask, wanted),
      () => {
        setIsSentAgain(sentTo !== null);
        setSentTo(wanted);
        setCode('');
      },
    );
  };
  const confirm = () => {
    if (code.length < LENGTH) {
      setWrong(text.problem.code);
      return;
    }
    setIsSentAgain(false);
    send(() => confirmEmailChange(ask, code), onChanged);
  };
  const cancel = (
    <Button variant="link" onPress={onCancel}>
      {text.cancel}
    </Button>
  );
  return (
    <>
      <Note failure={failure} done={null} />
      {sentTo === null ? (
        <Form labelledBy="email" onSubmit={begin}>
          <TextField
            label={text.newEmail}
            help={text.newEmailHelp}
            name="new-email"
            type="email"
            inputMode="email"
            autoComplete="email"
            spellCheck="false"
            autoCorrect="off"
            ltr
            autoFocus
            value={email}
            onChange={(value) => {
              setEmail(value);
              setWrong(undefined);
            }}
            error={wrong}
          />
          <FormActions>
            <Button type="submit" variant="primary" pending={isSending}>
              {text.sendCode}
            </Button>
          </FormActions>
          {cancel}
        </Form>
      ) : (
        <Form labelledBy="email" onSubmit={confirm}>
          <p role="status" className="step-quiet">
            {text.codeSentTo({ where: sentTo })}
          </p>
          {/* Empty while it is sent, so that each time is announced. */}
          <p role="status" className="step-quiet">
            {isSentAgain && !isSending ? text.resent : ''}
          </p>
          <CodeField
            label={text.codeDigits({ n: LENGTH })}
            name="new-email-code"
            length={LENGTH}
            autoFocus
            value={code}
            onChange={(digits) => {
              setCode(digits);
              setWrong(undefined);
            }}
            error={wrong}
          />
          <FormActions>
            <Button type="submit" variant="primary" pending={isSending}>
              {text.verify}
            </Button>
          </FormActions>
          <Button variant="link" onPress={begin}>
            {text.resend}
          </Button>
          {cancel}
        </Form>
      )}
    </>
  );
}
