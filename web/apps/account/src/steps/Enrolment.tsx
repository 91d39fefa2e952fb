import { useState, type ReactNode } from 'react';
import type { PasskeyChallenge } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { FormActions } from '@stoa/ui/Form';
import { keptEmail } from '../flow/draft.ts';
import type { Flow } from '../flow/useFlow.ts';
import { LoadingState } from '@stoa/ui/States';
import { StepHead, TITLE_ID } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { WithPasskeyTexts, type PasskeyTexts } from '../page/WithPasskeyTexts.tsx';
import { AuthenticatorSetup } from '../parts/AuthenticatorSetup.tsx';
import { hasPasskeys } from '../parts/passkey.ts';
import { RecoveryCodes } from '../parts/RecoveryCodes.tsx';
import { isOfOperator } from './operator.ts';
import { PasskeyForm } from './PasskeyForm.tsx';
import { useFreshChallenge } from './passkeyPrompt.ts';
import { siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';
import { checkCode } from './VerifyEmail.tsx';

const LENGTH = 6;
const NONE: readonly string[] = [];

type Props = StepProps<'OFFER_FACTOR' | 'ENROL_FACTOR' | 'RECOVERY_CODES'>;

/** The site requires a second factor of somebody who has none: one file of pages, which few see. */
export function Enrolment({ step, ...rest }: Props) {
  switch (step.type) {
    case 'OFFER_FACTOR':
      return <OfferFactor {...rest} step={step} />;
    case 'ENROL_FACTOR':
      return <EnrolFactor {...rest} step={step} />;
    case 'RECOVERY_CODES':
      return <KeepCodes {...rest} step={step} />;
  }
}

/** It may be put off for a while. */
function OfferFactor({ view, step, flow }: StepProps<'OFFER_FACTOR'>) {
  const text = useText();
  const site = siteName(view, text);
  return (
    <>
      <StepHead title={text.enrolTitle} site={site}>
        {text.enrolText({ site })}
      </StepHead>
      <StepForm
        view={view}
        flow={flow}
        submit={text.enrolBegin}
        fields={NONE}
        onSubmit={() => {
          flow.send({ type: 'ENROL_FACTOR' });
        }}
      >
        {() => null}
      </StepForm>
      <Later until={step.until} flow={flow} />
    </>
  );
}

/** A passkey is made, or an authenticator is set up: the person chooses, where the site can be reached by passkeys. */
function EnrolFactor(props: StepProps<'ENROL_FACTOR'>) {
  const text = useText();
  const { passkey } = props.step;
  useFreshChallenge(props.flow, passkey);
  const [byApp, setByApp] = useState(!hasPasskeys());
  if (passkey === null) return <EnrolApp {...props} />;
  return (
    <WithPasskeyTexts waiting={<LoadingState level={1} label={text.loading} />}>
      {(texts) => {
        const other = (label: string, isOff = false) => (
          <Button
            variant="link"
            disabledReason={isOff ? texts.why.unsupported : undefined}
            onPress={() => {
              setByApp(!byApp);
              requestAnimationFrame(() => document.getElementById(TITLE_ID)?.focus());
            }}
          >
            {label}
          </Button>
        );
        return byApp ? (
          <EnrolApp {...props} lead={texts.enrolText} other={other(texts.use, !hasPasskeys())} />
        ) : (
          <EnrolPasskey {...props} challenge={passkey} texts={texts} other={other(texts.useApp)} />
        );
      }}
    </WithPasskeyTexts>
  );
}

interface EnrolPasskeyProps extends StepProps<'ENROL_FACTOR'> {
  challenge: PasskeyChallenge;
  texts: PasskeyTexts;
  other: ReactNode;
}

function EnrolPasskey({ view, step, flow, challenge, texts, other }: EnrolPasskeyProps) {
  const text = useText();
  const site = siteName(view, text);
  return (
    <>
      <StepHead title={text.enrolTitle} site={site}>
        {texts.enrolText({ site })}
      </StepHead>
      <PasskeyForm
        view={view}
        flow={flow}
        challenge={challenge}
        texts={texts}
        submit={texts.create}
        makes
        toInput={(answer) => ({ type: 'CONFIRM_PASSKEY', ...answer })}
      >
        <p>{isOfOperator(view) ? texts.secondText : texts.createText}</p>
      </PasskeyForm>
      <div className="step-aside step-quiet">{other}</div>
      <Later until={step.until} flow={flow} />
    </>
  );
}

interface EnrolAppProps extends StepProps<'ENROL_FACTOR'> {
  /** In the place of what is said where there is no choice. */
  lead?: PasskeyTexts['enrolText'];
  other?: ReactNode;
}

/** An authenticator is set up, and shows its first code. */
function EnrolApp({ view, step, flow, lead, other }: EnrolAppProps) {
  const text = useText();
  const site = siteName(view, text);
  const [code, setCode] = useState('');
  return (
    <>
      <StepHead title={text.enrolTitle} site={site}>
        {(lead ?? text.enrolText)({ site })}
      </StepHead>
      <StepForm
        view={view}
        flow={flow}
        submit={text.verify}
        fields={['code', 'passkey']}
        check={() => checkCode(code, LENGTH)}
        onSubmit={() => {
          flow.send({ type: 'CONFIRM_FACTOR', code });
        }}
      >
        {(errorAt) => (
          <AuthenticatorSetup
            secret={step.secret}
            uri={step.uri}
            code={code}
            onCode={setCode}
            error={errorAt('code')}
          />
        )}
      </StepForm>
      {other !== undefined && <div className="step-aside step-quiet">{other}</div>}
      <Later until={step.until} flow={flow} />
    </>
  );
}

/** The codes are shown until they are kept; the page says so where they can't be decrypted any more. */
function KeepCodes({ view, step, flow }: StepProps<'RECOVERY_CODES'>) {
  const text = useText();
  const site = siteName(view, text);
  // Those of owners and editors are of an account that is the same at all sites.
  const codesFor = (isOfOperator(view) && keptEmail()) || site;
  const pending = flow.sending !== null;
  const go = () => {
    if (!pending) flow.send({ type: 'CODES_KEPT' });
  };
  return (
    <>
      <StepHead title={text.recoveryCodesTitle} site={site}>
        {step.codes.length > 0 ? text.recoveryCodesText : null}
      </StepHead>
      {step.codes.length > 0 ? (
        <RecoveryCodes codes={step.codes} site={codesFor} onKept={go} pending={pending} />
      ) : (
        <>
          <Callout tone="warn">{text.recoveryCodesGone}</Callout>
          <FormActions>
            <Button variant="primary" wide pending={pending} onPress={go}>
              {text.goOn}
            </Button>
          </FormActions>
        </>
      )}
    </>
  );
}

function Later({ until, flow }: { until: string | null; flow: Flow }) {
  const text = useText();
  if (until === null) return null;
  return (
    <div className="step-aside step-quiet">
      <span>{text.enrolUntil({ date: new Date(until) })}</span>
      <Button
        variant="link"
        onPress={() => {
          flow.send({ type: 'LATER' });
        }}
      >
        {text.enrolLater}
      </Button>
    </div>
  );
}
