import { useState } from 'react';
import type { FactorType } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { Checkbox } from '@stoa/ui/Checkbox';
import { CodeField } from '@stoa/ui/CodeField';
import { PasswordField } from '@stoa/ui/PasswordField';
import { LoadingState } from '@stoa/ui/States';
import { TextField } from '@stoa/ui/TextField';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { WithPasskeyTexts, type PasskeyTexts } from '../page/WithPasskeyTexts.tsx';
import { WithProviderTexts, type ProviderTexts } from '../page/WithProviderTexts.tsx';
import { WithPushTexts, type PushTexts } from '../page/WithPushTexts.tsx';
import { hasPasskeys } from '../parts/passkey.ts';
import { isOfOperator } from './operator.ts';
import { PasskeyForm } from './PasskeyForm.tsx';
import { useFreshChallenge } from './passkeyPrompt.ts';
import { Resend, ResentNote } from './Resend.tsx';
import { missing, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';
import { checkCode } from './VerifyEmail.tsx';
import { withWrong } from './wrongPassword.ts';

const LENGTH = 6;

/** The factors whose codes are sent. */
const SENT: readonly FactorType[] = ['EMAIL', 'SMS', 'CALL'];

type Props = StepProps<'SECOND_FACTOR'>;

interface FactorsProps extends Props {
  passkeyTexts: PasskeyTexts | null;
  pushTexts: PushTexts | null;
  providerTexts: ProviderTexts | null;
}

/**
 * A passkey, a code of an authenticator, a notification, a code that is sent, the password after a sign-in by a provider, or one of
 * those that were kept for the day of need.
 */
export function SecondFactor(props: Props) {
  const text = useText();
  const { factors } = props.step;
  const hasPasskeyTexts = factors.includes('WEBAUTHN') || isOfOperator(props.view);
  // What was said of a notification at first may be said while the step has none any more.
  const [beganAsPush] = useState(() => pushProblem(props.view) !== null);
  const waiting = <LoadingState level={1} label={text.loading} />;
  type Texts = Pick<FactorsProps, 'passkeyTexts' | 'pushTexts' | 'providerTexts'>;
  const withPasskey = (texts: Omit<Texts, 'passkeyTexts'>) =>
    hasPasskeyTexts ? (
      <WithPasskeyTexts waiting={waiting}>
        {(passkeyTexts) => <Factors {...props} {...texts} passkeyTexts={passkeyTexts} />}
      </WithPasskeyTexts>
    ) : (
      <Factors {...props} {...texts} passkeyTexts={null} />
    );
  const withPush = (providerTexts: ProviderTexts | null) =>
    beganAsPush || factors.includes('PUSH') ? (
      <WithPushTexts waiting={waiting}>{(pushTexts) => withPasskey({ pushTexts, providerTexts })}</WithPushTexts>
    ) : (
      withPasskey({ pushTexts: null, providerTexts })
    );
  if (!factors.includes('PASSWORD')) return withPush(null);
  return <WithProviderTexts waiting={waiting}>{withPush}</WithProviderTexts>;
}

const WHY_NOT_PUSHED: Record<string, keyof PushTexts['why']> = {
  PUSH_DENIED: 'denied',
  PUSH_EXPIRED: 'expired',
  PUSH_UNAVAILABLE: 'unavailable',
  THROTTLED_FEATURE: 'limited',
};

/** Why a notification did not lead on. */
function pushProblem({ problems }: Props['view']): keyof PushTexts['why'] | null {
  const code = problems.find((it) => it.field === 'push')?.code;
  return code === undefined ? null : (WHY_NOT_PUSHED[code] ?? 'failed');
}

/** Whether the browser can show it. */
const isUsable = (factor: FactorType) => factor !== 'WEBAUTHN' || hasPasskeys();

const firstOf = (factors: readonly FactorType[]): FactorType => factors.find(isUsable) ?? factors[0] ?? 'TOTP';

function Factors({ view: given, step, flow, passkeyTexts, pushTexts, providerTexts }: FactorsProps) {
  const text = useText();
  useFreshChallenge(flow, step.passkey);
  const whyNotPushed = pushProblem(given);
  const view = { ...given, problems: given.problems.filter((it) => it.field !== 'push') };
  const [chosen, setFactor] = useState<FactorType>(() => {
    if (whyNotPushed !== null && step.factors.includes('PUSH')) return 'PUSH';
    return step.sentBy ?? firstOf(step.factors);
  });
  // Notifications end for a sign-in in which one was denied.
  const factor = chosen === 'PUSH' && !step.factors.includes('PUSH') ? firstOf(step.factors) : chosen;
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
    if (waitsToSend || factor === 'PUSH') return {};
    return factor === 'RECOVERY_CODE' || factor === 'PASSWORD' ? missing({ code }) : checkCode(code, LENGTH);
  };
  const ways: Record<FactorType, string> = {
    WEBAUTHN: passkeyTexts?.use ?? '',
    TOTP: text.useAuthenticator,
    PUSH: pushTexts?.use ?? '',
    EMAIL: text.useEmailCode,
    SMS: text.useSmsCode,
    CALL: text.useCallCode,
    PASSWORD: providerTexts?.usePassword ?? '',
    RECOVERY_CODE: text.useRecoveryCode,
  };
  return (
    <>
      <StepHead title={text.factorTitle} site={siteName(view, text)}>
        {explained()}
      </StepHead>
      <div className="step-callout">
        {whyNotPushed !== null && flow.sending === null && (
          <Callout tone="warn" announce="alert">
            <p>{pushTexts?.why[whyNotPushed]}</p>
          </Callout>
        )}
      </div>
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
        view={factor === 'PASSWORD' ? withWrong(shown, 'code', providerTexts?.wrongPassword ?? '') : shown}
        flow={flow}
        submit={factor === 'PUSH' ? pushTexts?.send : waitsToSend ? text.sendCode : text.verify}
        fields={['code', 'passkey']}
        check={check}
        onSubmit={send}
      >
        {(errorAt) =>
          waitsToSend ? null : (
            <>
              {factor === 'PUSH' ? null : factor === 'PASSWORD' ? (
                <PasswordField
                  label={text.password}
                  name="code"
                  autoComplete="current-password"
                  showLabel={text.showPassword}
                  hideLabel={text.hidePassword}
                  value={code}
                  onChange={setCode}
                  error={errorAt('code')}
                />
              ) : factor === 'RECOVERY_CODE' ? (
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
    // Browsers of owners and editors are not remembered.
    if (step.rememberDays === 0) return null;
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
        if (isOfOperator(view)) return passkeyTexts?.accountFactorText;
        return text.factorText({ site: siteName(view, text) });
      case 'PUSH':
        return pushTexts?.factorText;
      case 'EMAIL':
        return text.emailFactorText;
      case 'SMS':
        return text.smsFactorText;
      case 'CALL':
        return text.callFactorText;
      case 'PASSWORD':
        return providerTexts?.factorText({ site: siteName(view, text) });
      case 'RECOVERY_CODE':
        return text.recoveryCodeText;
    }
  }
}
