/** The ends of a flow: a redirect, a message to the opener, done, or failed. */
import { useEffect, useRef } from 'react';
import { Callout } from '@stoa/ui/Callout';
import { Link } from '@stoa/ui/Link';
import { LoadingState } from '@stoa/ui/States';
import { forgetEmail } from '../flow/draft.ts';
import { isSafeUrl } from '../flow/leave.ts';
import { postResult } from '../flow/postResult.ts';
import { accountUrlOf, securityUrl, startUrl } from '../flow/route.ts';
import { MessagePage, Restart } from '../page/FailurePage.tsx';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { problemText } from '../text/problems.ts';
import { isOfOperator } from './operator.ts';
import { siteName, type StepProps } from './step.ts';

export function Redirect({ step, flow }: StepProps<'REDIRECT'>) {
  const text = useText();
  const safe = isSafeUrl(step.url);
  // The way to a provider is one that the person may come back on: the flow waits there.
  const comesBack = flow.answered === 'PROVIDER';
  useEffect(() => {
    if (!comesBack) forgetEmail();
    if (!safe) return;
    if (comesBack) location.assign(step.url);
    else location.replace(step.url);
  }, [step.url, safe, comesBack]);
  if (!safe)
    return (
      <MessagePage title={text.failedTitle}>
        <p>{text.redirectRefused}</p>
      </MessagePage>
    );
  return (
    <>
      <LoadingState level={1} label={text.redirecting} />
      <p className="step-center">
        <Link href={step.url} variant="quiet">
          {text.redirectStuck}
        </Link>
      </p>
    </>
  );
}

export function PostMessage({ view, step }: Pick<StepProps<'POST_MESSAGE'>, 'view' | 'step'>) {
  const text = useText();
  const isPosted = useRef(false);
  useEffect(() => {
    if (isPosted.current) return;
    isPosted.current = true;
    forgetEmail();
    postResult(step);
  }, [step]);
  return (
    <StepHead title={text.messageSent} site={siteName(view, text)}>
      {text.messageSentText}
    </StepHead>
  );
}

export function Done({ view, step, flow }: StepProps<'DONE'>) {
  const text = useText();
  const site = siteName(view, text);
  useEffect(forgetEmail, []);
  const home = view.homeUrl;
  // Those who run the site find their own page here.
  const runs = isOfOperator(view) && step.message !== 'SIGNED_OUT';
  return (
    <>
      <StepHead title={text.done[step.message]} site={site} />
      <div className="step-stack">
        <Callout tone="good">{text.doneText[step.message]}</Callout>
        {step.message === 'PASSWORD_CHANGED' ? (
          <Link href={startUrl({ ...flow.start, kind: 'SIGN_IN' })} variant="primary">
            {text.signIn}
          </Link>
        ) : (
          home != null &&
          isSafeUrl(home) && (
            <Link href={home} variant="button">
              {text.goToSite({ site })}
            </Link>
          )
        )}
        {!isOfOperator(view) && step.message === 'SIGNED_IN' && (
          <Link href={accountUrlOf(view.site.id)} variant="quiet">
            {text.accountTitle}
          </Link>
        )}
        {runs && (
          <Link href={securityUrl(view.site.id)} variant="quiet">
            {text.securityTitle}
          </Link>
        )}
      </div>
    </>
  );
}

export function Failed({ view, step, flow }: StepProps<'FAILED'>) {
  const text = useText();
  const expired = step.code === 'INVALID_STATE_TOKEN';
  return (
    <MessagePage
      site={siteName(view, text)}
      title={expired ? text.expiredTitle : text.failedTitle}
      action={<Restart start={flow.start} />}
    >
      <p>{expired ? text.expiredText : problemText(text, step.code, step.message)}</p>
    </MessagePage>
  );
}
