import { useState } from 'react';
import type { FactorType } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Checkbox } from '@stoa/ui/Checkbox';
import { CodeField } from '@stoa/ui/CodeField';
import { TextField } from '@stoa/ui/TextField';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { missing, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';
import { checkCode } from './VerifyEmail.tsx';

const LENGTH = 6;

/** A code of an authenticator, or one of the codes that were kept for the day it is lost. */
export function SecondFactor({ view, step, flow }: StepProps<'SECOND_FACTOR'>) {
  const text = useText();
  const [factor, setFactor] = useState<FactorType>(step.factors[0] ?? 'TOTP');
  const [code, setCode] = useState('');
  const [remember, setRemember] = useState(false);
  /** What is wrong with a code is said of the one that was sent. */
  const [sent, setSent] = useState<FactorType | null>(null);
  const isTotp = factor === 'TOTP';
  const other: FactorType = isTotp ? 'RECOVERY_CODE' : 'TOTP';
  const shown = sent === factor ? view : { ...view, problems: view.problems.filter((it) => it.field !== 'code') };
  const change = () => {
    setCode('');
    setSent(null);
    setFactor(other);
    requestAnimationFrame(() => {
      document.querySelector<HTMLInputElement>('main input[name="code"]')?.focus();
    });
  };
  return (
    <>
      <StepHead title={text.factorTitle} site={siteName(view, text)}>
        {isTotp ? text.factorText({ site: siteName(view, text) }) : text.recoveryCodeText}
      </StepHead>
      <StepForm
        key={factor}
        view={shown}
        flow={flow}
        submit={text.verify}
        fields={['code']}
        check={() => (isTotp ? checkCode(code, LENGTH) : missing({ code }))}
        onSubmit={() => {
          setSent(factor);
          flow.send({ type: 'SECOND_FACTOR', factor, code, remember });
        }}
      >
        {(errorAt) => (
          <>
            {isTotp ? (
              <CodeField
                label={text.codeDigits({ n: LENGTH })}
                name="code"
                length={LENGTH}
                value={code}
                onChange={setCode}
                error={errorAt('code')}
              />
            ) : (
              <TextField
                label={text.recoveryCode}
                name="code"
                value={code}
                onChange={setCode}
                autoComplete="off"
                spellCheck="false"
                ltr
                error={errorAt('code')}
              />
            )}
            <Checkbox isSelected={remember} onChange={setRemember}>
              {text.rememberBrowser({ n: step.rememberDays })}
            </Checkbox>
          </>
        )}
      </StepForm>
      {step.factors.includes(other) && (
        <div className="step-aside step-quiet">
          <Button variant="link" onPress={change}>
            {isTotp ? text.useRecoveryCode : text.useAuthenticator}
          </Button>
        </div>
      )}
    </>
  );
}
