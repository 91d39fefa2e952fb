import { useState } from 'react';
import type { FactorType } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Checkbox } from '@stoa/ui/Checkbox';
import { CodeField } from '@stoa/ui/CodeField';
import { LoadingState } from '@stoa/ui/States';
import { TextField } from '@stoa/ui/TextField';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { WithPasskeyTexts, type PasskeyTexts } from '../page/WithPasskeyTexts.tsx';
import { hasPasskeys } from '../parts/passkey.ts';
import { PasskeyForm } from './PasskeyForm.tsx';
import { useFreshChallenge } from './passkeyPrompt.ts';
import { Resend, ResentNote } from './Resend.tsx';
import { missing, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';
import { checkCode } from './VerifyEmail.tsx';

const LENGTH = 6;

/** The factors whose codes are sent. */
const SENT: readonly FactorType[] = ['EMAIL', 'SMS', 'CALL'];

type Props = StepProps<'SECOND_FACTOR'>;

/** A passkey, a code of an authenticator, one that is sent, or one of the codes that were kept for the day of need. */
export function SecondFactor(props: Props) {
  const text = useText();
  if (!props.step.factors.includes('WEBAUTHN')) return <Factors {...props} passkeyTexts={null} />;
  return (
    <WithPasskeyTexts waiting={<LoadingState level={1} label={text.loading} />}>
      {(texts) => <Factors {...props} passkeyTexts={texts} />}
    </WithPasskeyTexts>
  );
}

/** Whether the browser can show it. */
const isUsable = (factor: FactorType) => factor !== 'WEBAUTHN' || hasPasskeys();

function Factors({ view, step, flow, passkeyTexts }: Props & { passkeyTexts: PasskeyTexts | null }) {
  const text = useText();
  useFreshChallenge(flow, step.passkey);
  const [factor, setFactor] = useState<FactorType>(
    () => step.sentBy ?? step.factors.find(isUsable) ?? step.factors[0] ?? 'TOTP',
  );
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
    WEBAUTHN: passkeyTexts?.use ?? '',
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
      {factor === 'WEBAUTHN' ? byPasskey() : byCode()}
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
              disabledReason={isUsable(it) ? undefined : passkeyTexts?.why.unsupported}
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

  function byPasskey() {
    if (passkeyTexts === null || step.passkey === null) return null;
    return (
      <PasskeyForm
        view={view}
        flow={flow}
        challenge={step.passkey}
        texts={passkeyTexts}
        submit={passkeyTexts.use}
        toInput={(answer) => ({ type: 'PASSKEY', ...answer, remember })}
      >
        {rememberBox()}
      </PasskeyForm>
    );
  }

  function byCode() {
    return (
      <StepForm
        key={`${factor} ${waitsToSend}`}
        view={shown}
        flow={flow}
        submit={waitsToSend ? text.sendCode : text.verify}
        fields={['code', 'passkey']}
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
              {rememberBox()}
            </>
          )
        }
      </StepForm>
    );
  }

  function rememberBox() {
    return (
      <Checkbox isSelected={remember} onChange={setRemember}>
        {text.rememberBrowser({ n: step.rememberDays })}
      </Checkbox>
    );
  }

  function explained() {
    if (sentTo !== null) return text.codeSentTo({ where: sentTo });
    switch (factor) {
      case 'WEBAUTHN':
        return passkeyTexts?.factorText;
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
