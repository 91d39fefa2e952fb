import { useMemo, useState } from 'react';
import qrcode from 'qrcode-generator';
import { CodeField } from '@stoa/ui/CodeField';
import { ProblemSummary } from '@stoa/ui/Form';
import { Link } from '@stoa/ui/Link';
import { TextField } from '@stoa/ui/TextField';
import { passkeyCreate } from '../flow/passkey.ts';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { Passkey } from './Passkey.tsx';
import { Resend } from './Resend.tsx';
import { missing, problemsFor, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';
import { checkCode } from './VerifyEmail.tsx';

const LENGTH = 6;
const RESEND_AFTER_SECONDS = 30;

export function EnrolFactor({ view, step, flow }: StepProps<'ENROL_FACTOR'>) {
  const text = useText();
  const site = siteName(view, text);
  const [code, setCode] = useState('');
  const [phone, setPhone] = useState('');
  const { enrolment } = step;
  const { summary } = problemsFor(view, text, [], {});
  const send = (what: { code?: string; credential?: string }) => {
    flow.send({ type: 'ENROL_FACTOR', code: what.code ?? null, credential: what.credential ?? null });
  };
  const codeForm = (
    <StepForm
      view={view}
      flow={flow}
      submit={text.verify}
      fields={['code']}
      check={() => checkCode(code, LENGTH)}
      onSubmit={() => {
        send({ code });
      }}
    >
      {(errorAt) => (
        <CodeField
          label={text.codeDigits(LENGTH)}
          name="code"
          length={LENGTH}
          value={code}
          onChange={setCode}
          error={errorAt('code')}
          onComplete={(value) => {
            send({ code: value });
          }}
        />
      )}
    </StepForm>
  );
  switch (enrolment.type) {
    case 'TOTP':
      return (
        <>
          <StepHead title={text.enrolTitle} site={site}>
            {text.enrolTotpText}
          </StepHead>
          <div className="step-stack">
            <QrCode content={enrolment.uri} label={text.enrolTotpImage} />
            {enrolment.uri.startsWith('otpauth:') && (
              <p className="step-center">
                <Link href={enrolment.uri} variant="quiet">
                  {text.enrolTotpOpen}
                </Link>
              </p>
            )}
            <div>
              <p className="step-quiet">{text.enrolTotpByHand}</p>
              <code className="step-key">{enrolment.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
            </div>
            {codeForm}
          </div>
        </>
      );
    case 'WEBAUTHN':
      return (
        <>
          <StepHead title={text.enrolTitle} site={site}>
            {text.enrolWebauthnText}
          </StepHead>
          <div className="step-stack">
            <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
            <Passkey
              label={text.createPasskey}
              ask={() => passkeyCreate(enrolment.optionsJson)}
              sending={flow.sending === 'ENROL_FACTOR'}
              onCredential={(credential) => {
                send({ credential });
              }}
            />
          </div>
        </>
      );
    case 'PHONE':
      if (enrolment.hint == null) {
        return (
          <>
            <StepHead title={text.enrolTitle} site={site}>
              {text.enrolPhoneText}
            </StepHead>
            <StepForm
              view={view}
              flow={flow}
              submit={text.sendCode}
              fields={['credential']}
              check={() => missing({ credential: phone })}
              onSubmit={() => {
                send({ credential: phone.trim() });
              }}
            >
              {(errorAt) => (
                <TextField
                  label={text.phone}
                  help={text.phoneHelp}
                  name="phone"
                  type="tel"
                  inputMode="tel"
                  autoComplete="tel"
                  ltr
                  value={phone}
                  onChange={setPhone}
                  error={errorAt('credential')}
                />
              )}
            </StepForm>
          </>
        );
      }
      return (
        <>
          <StepHead title={text.enrolTitle} site={site}>
            {text.enrolPhoneCodeText(enrolment.hint)}
          </StepHead>
          {codeForm}
          <div className="step-aside step-quiet">
            <Resend flow={flow} afterSeconds={RESEND_AFTER_SECONDS} />
          </div>
        </>
      );
  }
}

/** Drawn as one path, so that it stays sharp and needs no image. */
function QrCode({ content, label }: { content: string; label: string }) {
  const { path, size } = useMemo(() => {
    const code = qrcode(0, 'M');
    code.addData(content);
    code.make();
    const count = code.getModuleCount();
    let drawn = '';
    for (let row = 0; row < count; row += 1) {
      for (let column = 0; column < count; column += 1)
        if (code.isDark(row, column)) drawn += `M${column} ${row}h1v1h-1z`;
    }
    return { path: drawn, size: count };
  }, [content]);
  return (
    <svg className="step-qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={path} fill="currentColor" />
    </svg>
  );
}
