import { useState } from 'react';
import { CodeField } from '@stoa/ui/CodeField';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { Resend, ResentNote } from './Resend.tsx';
import { siteName, type LocalProblems, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';

const LENGTH = 6;

/** An unfinished code is refused without asking the server. */
export const checkCode = (code: string, length: number): LocalProblems =>
  code.length === 0 ? { code: 'REQUIRED' } : code.length < length ? { code: 'INVALID_CODE' } : {};

export function VerifyEmail({ view, step, flow }: StepProps<'VERIFY_EMAIL'>) {
  const text = useText();
  const [code, setCode] = useState('');
  const send = (digits: string) => {
    flow.send({ type: 'VERIFY_EMAIL', code: digits });
  };
  return (
    <>
      <StepHead title={text.verifyTitle} site={siteName(view, text)}>
        {text.codeSentTo({ where: step.emailHint })}
      </StepHead>
      <StepForm
        view={view}
        flow={flow}
        submit={text.verify}
        fields={['code']}
        check={() => checkCode(code, LENGTH)}
        onSubmit={() => {
          send(code);
        }}
      >
        {(errorAt) => (
          <CodeField
            label={text.codeDigits({ n: LENGTH })}
            name="code"
            length={LENGTH}
            value={code}
            onChange={setCode}
            onComplete={send}
            error={errorAt('code')}
          />
        )}
      </StepForm>
      <div className="step-aside step-quiet">
        <span>{text.spamHint}</span>
        <Resend flow={flow} afterSeconds={step.resendAfterSeconds} />
        <ResentNote flow={flow} problems={view.problems.length} />
      </div>
    </>
  );
}
