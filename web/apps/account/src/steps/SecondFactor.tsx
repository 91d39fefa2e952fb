import { useState } from 'react';
import type { FactorType } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Checkbox } from '@stoa/ui/Checkbox';
import { CodeField } from '@stoa/ui/CodeField';
import { TextField } from '@stoa/ui/TextField';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { Resend, ResentNote } from './Resend.tsx';
import { missing, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';
import { checkCode } from './VerifyEmail.tsx';

const LENGTH = 6;

/** The factors whose codes are sent. */
const SENT: readonly FactorType[] = ['EMAIL', 'SMS', 'CALL'];

/** A code of an authenticator, one that is sent, or one of the codes that were kept for the day of need. */
export function SecondFactor({ view, step, flow }: StepProps<'SECOND_FACTOR'>) {
  const text = useText();
  const [factor, setFactor] = useState<FactorType>(step.sentBy ?? step.factors[0] ?? 'TOTP');
  const [code, setCode] = useState('');
  const [remember, setRemember] = useState(false);
  /** What is wrong with a code is said of the one that was sent. */
  const [sent, setSent] = useState<FactorType | null>(null);
  const shown = sent === factor ? view : { ...view, problems: view.problems.filter((it) => it.field !== 'code') };
  const isSent = SENT.includes(factor);
  /** Where the last code of this factor went. */
  const sentTo = step.sentBy === factor ? step.sentTo : null;
  const waitsToSend = isSent && sentTo === null;
  const change = (other: FactorType) => {
    setCode('');
    setSent(null);
    setFactor(other);
    requestAnimationFrame(() => {
      document.querySelector<HTMLElement>('main input[name="code"], main button[type="submit"]')?.focus();
    });
  };
  const send = () => {
    if (waitsToSend) {
      flow.send({ type: 'RESEND', factor });
      return;
    }
    setSent(factor);
    flow.send({ type: 'SECOND_FACTOR', factor, code, remember });
  };
  const check = () => {
    if (waitsToSend) return {};
    return factor === 'RECOVERY_CODE' ? missing({ code }) : checkCode(code, LENGTH);
  };
  const ways: Record<FactorType, string> = {
    TOTP: text.useAuthenticator,
    EMAIL: text.useEmailCode,
    SMS: text.useSmsCode,
    CALL: text.useCallCode,
    RECOVERY_CODE: text.useRecoveryCode,
  };
  return (
    <>
      <StepHead title={text.factorTitle} site={siteName(view, text)}>
        {explained()}
      </StepHead>
      <StepForm
        key={`${factor} ${waitsToSend}`}
        view={shown}
        flow={flow}
        submit={waitsToSend ? text.sendCode : text.verify}
        fields={['code']}
        check={check}
        onSubmit={send}
      >
        {(errorAt) =>
          waitsToSend ? null : (
            <>
              {factor === 'RECOVERY_CODE' ? (
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
              ) : (
                <CodeField
                  label={text.codeDigits({ n: LENGTH })}
                  name="code"
                  length={LENGTH}
                  value={code}
                  onChange={setCode}
                  error={errorAt('code')}
                />
              )}
              <Checkbox isSelected={remember} onChange={setRemember}>
                {text.rememberBrowser({ n: step.rememberDays })}
              </Checkbox>
            </>
          )
        }
      </StepForm>
      <div className="step-aside step-quiet">
        {isSent && !waitsToSend && (
          <>
            {factor === 'EMAIL' && <span>{text.spamHint}</span>}
            <Resend flow={flow} afterSeconds={step.resendAfterSeconds} factor={factor} />
          </>
        )}
        {isSent && <ResentNote flow={flow} problems={view.problems.length} />}
        {step.factors
          .filter((it) => it !== factor)
          .map((it) => (
            <Button
              key={it}
              variant="link"
              onPress={() => {
                change(it);
              }}
            >
              {ways[it]}
            </Button>
          ))}
      </div>
    </>
  );

  function explained() {
    if (sentTo !== null) return text.codeSentTo({ where: sentTo });
    switch (factor) {
      case 'TOTP':
        return text.factorText({ site: siteName(view, text) });
      case 'EMAIL':
        return text.emailFactorText;
      case 'SMS':
        return text.smsFactorText;
      case 'CALL':
        return text.callFactorText;
      case 'RECOVERY_CODE':
        return text.recoveryCodeText;
    }
  }
}
