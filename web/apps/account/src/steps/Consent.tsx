import { useEffect, useRef } from 'react';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { ProblemSummary } from '@stoa/ui/Form';
import { StepHead, TITLE_ID } from '../page/StepHead.tsx';
import { scopeText } from '../page/scopes.ts';
import { WithLaterTexts, useAllTexts } from '../page/WithLaterTexts.tsx';
import { AllowButton } from '../parts/AllowButton.tsx';
import { problemsFor, siteName, type StepProps } from './step.ts';

type Props = StepProps<'CONSENT'>;

/** A member is asked whether an application of others may act for them. Opening the page changes nothing. */
export const Consent = ({ language, ...rest }: Props & { language: string }) => (
  <WithLaterTexts language={language}>
    <Question {...rest} />
  </WithLaterTexts>
);

function Question({ view, step, flow }: Props) {
  const text = useAllTexts();
  const site = siteName(view, text);
  const { summary } = problemsFor(view, text, [], {});
  // The focus was moved before this page's texts were there.
  const asked = useRef(false);
  useEffect(() => {
    if (!asked.current && flow.round > 1) document.getElementById(TITLE_ID)?.focus();
    asked.current = true;
  }, [flow.round]);
  return (
    <>
      <StepHead title={text.consent.title({ app: step.appName, site })} site={site}>
        {text.signedInAs({ name: step.account })}
        {step.host !== '' && <> {text.installTo({ host: step.host })}</>}
      </StepHead>
      <div className="step-stack">
        <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
        <Callout tone="warn">{text.installOthers({ site })}</Callout>
        <p id="consent-rights">{text.consent.may}</p>
        <ul aria-labelledby="consent-rights">
          {/* Sign-on alone. */}
          {step.scopes.length === 0 && <li>{text.appMayKnow}</li>}
          {step.scopes.map((scope) => (
            <li key={scope}>{scopeText(text, scope)}</li>
          ))}
        </ul>
        <p className="step-quiet">{text.consent.until}</p>
        <AllowButton
          pending={flow.sending === 'ALLOW'}
          onAllow={() => {
            flow.send({ type: 'ALLOW' });
          }}
        >
          {text.consent.allow}
        </AllowButton>
        <Button
          wide
          pending={flow.sending === 'DECLINE'}
          onPress={() => {
            flow.send({ type: 'DECLINE' });
          }}
        >
          {text.decline}
        </Button>
      </div>
    </>
  );
}
