import { useState } from 'react';
import type { FactorType } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Checkbox } from '@stoa/ui/Checkbox';
import { CodeField } from '@stoa/ui/CodeField';
import { ProblemSummary } from '@stoa/ui/Form';
import { PasswordField } from '@stoa/ui/PasswordField';
import { Spinner } from '@stoa/ui/Spinner';
import { TextField } from '@stoa/ui/TextField';
import { passkeyGet } from '../flow/passkey.ts';
import { useLook } from '../flow/useLook.ts';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { Passkey } from './Passkey.tsx';
import { Resend, ResentNote } from './Resend.tsx';
import { missing, problemsFor, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';
import { checkCode } from './VerifyEmail.tsx';

/** Factors whose code the server sends somewhere. */
const SENT: ReadonlySet<FactorType> = new Set(['SMS', 'CALL', 'EMAIL']);
const LOOK_EVERY_MS = 3000;

export function AnswerFactor({ view, step, flow }: StepProps<'ANSWER_FACTOR'>) {
  const text = useText();
  const [code, setCode] = useState('');
  const [remember, setRemember] = useState(false);
  const { factor, challenge } = step;
  const answer = (what: { code?: string; credential?: string }) => {
    flow.send({
      type: 'ANSWER_FACTOR',
      code: what.code ?? null,
      credential: what.credential ?? null,
      rememberDevice: remember,
    });
  };
  const rememberBox = step.canRememberDevice && (
    <Checkbox isSelected={remember} onChange={setRemember}>
      {text.rememberDevice}
    </Checkbox>
  );
  const { summary } = problemsFor(view, text, [], {});
  const head = (
    <StepHead title={text.answerFactorTitle} site={siteName(view, text)}>
      {text.factorAsk[factor.factor]}
      {factor.hint != null && (
        <>
          {' '}
          <bdi>({factor.hint})</bdi>
        </>
      )}
    </StepHead>
  );

  if (challenge?.type === 'WEBAUTHN') {
    return (
      <>
        {head}
        <div className="step-stack">
          <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
          {rememberBox}
          <Passkey
            label={text.usePasskey}
            ask={() => passkeyGet(challenge.optionsJson)}
            sending={flow.sending === 'ANSWER_FACTOR'}
            onCredential={(credential) => {
              answer({ credential });
            }}
          />
        </div>
      </>
    );
  }
  if (challenge?.type === 'PUSH') {
    return (
      <>
        {head}
        <div className="step-stack">
          <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
          <PushWait look={flow.look} />
          {rememberBox}
          <Button
            variant="primary"
            wide
            pending={flow.sending === 'ANSWER_FACTOR'}
            onPress={() => {
              answer({ credential: challenge.transactionId });
            }}
          >
            {text.pushApproved}
          </Button>
        </div>
        <div className="step-ways">
          <Button
            variant="link"
            onPress={() => {
              flow.send({ type: 'RESEND' });
            }}
          >
            {text.tryAgain}
          </Button>
        </div>
      </>
    );
  }
  const length = challenge?.length ?? 6;
  const digits = factor.factor !== 'PASSWORD' && factor.factor !== 'RECOVERY_CODE';
  return (
    <>
      {head}
      <StepForm
        view={view}
        flow={flow}
        submit={text.verify}
        fields={['code']}
        check={() => (digits ? checkCode(code, length) : missing({ code }))}
        onSubmit={() => {
          answer({ code: code.trim() });
        }}
      >
        {(errorAt) => (
          <>
            {factor.factor === 'PASSWORD' ? (
              <PasswordField
                label={text.password}
                name="password"
                autoComplete="current-password"
                showLabel={text.showPassword}
                hideLabel={text.hidePassword}
                value={code}
                onChange={setCode}
                error={errorAt('code')}
              />
            ) : factor.factor === 'RECOVERY_CODE' ? (
              <TextField
                label={text.factor.RECOVERY_CODE}
                name="code"
                autoComplete="off"
                spellCheck="false"
                ltr
                value={code}
                onChange={setCode}
                error={errorAt('code')}
              />
            ) : (
              <CodeField
                label={text.codeDigits(length)}
                name="code"
                length={length}
                value={code}
                onChange={setCode}
                error={errorAt('code')}
                // With a choice still open below, the person sends it; without one the last digit does.
                {...(step.canRememberDevice
                  ? {}
                  : {
                      onComplete: (value: string) => {
                        answer({ code: value });
                      },
                    })}
              />
            )}
            {rememberBox}
          </>
        )}
      </StepForm>
      {SENT.has(factor.factor) && (
        <div className="step-aside step-quiet">
          {challenge == null ? (
            <Button
              variant="link"
              pending={flow.sending === 'RESEND'}
              onPress={() => {
                flow.send({ type: 'RESEND' });
              }}
            >
              {text.sendCode}
            </Button>
          ) : (
            <Resend flow={flow} afterSeconds={challenge.resendAfterSeconds} />
          )}
          <ResentNote flow={flow} problems={view.problems.length} />
        </div>
      )}
    </>
  );
}

/** Looks every few seconds whether the phone said yes. */
function PushWait({ look }: { look: () => Promise<void> }) {
  const text = useText();
  useLook(look, LOOK_EVERY_MS);
  return (
    <p className="step-row" role="status">
      <Spinner /> {text.pushWaiting}
    </p>
  );
}
