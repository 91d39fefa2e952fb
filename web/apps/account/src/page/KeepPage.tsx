import { useEffect, useRef, useState } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { Link } from '@stoa/ui/Link';
import { LoadingState } from '@stoa/ui/States';
import { readDeletion, undoDeletion, type WaitingDeletion } from '../api/deletion.ts';
import type { Answer } from '../api/request.ts';
import { nameSite } from '../api/site.ts';
import { startUrl } from '../flow/route.ts';
import { writtenDate } from './dates.ts';
import { MessagePage } from './FailurePage.tsx';
import { StepHead, TITLE_ID } from './StepHead.tsx';
import { useAllTexts } from './WithLaterTexts.tsx';

export interface KeepPageProps {
  token: string;
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
}

/** A member keeps an account that is to be deleted. Opening the page changes nothing. */
export function KeepPage({ token, language, onSite }: KeepPageProps) {
  const text = useAllTexts();
  const [answer, setAnswer] = useState<Answer<WaitingDeletion> | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [hasFailed, setHasFailed] = useState(false);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    void readDeletion(token).then((next) => {
      if (isOver) return;
      setAnswer(next);
      if ('value' in next) onSite(next.value.site);
    });
    return () => {
      isOver = true;
    };
  }, [token, onSite, round]);

  // The pressed button goes, and with it the focus.
  const isKept = answer !== null && 'value' in answer && answer.value.deletionDate === undefined;
  const wasKept = useRef(isKept);
  useEffect(() => {
    if (isKept && !wasKept.current) document.getElementById(TITLE_ID)?.focus();
    wasKept.current = isKept;
  }, [isKept]);

  if (answer === null) return <LoadingState level={1} label={text.loading} />;
  if ('failure' in answer) {
    if (answer.failure.why === 'expired')
      return (
        <MessagePage title={text.keepGoneTitle}>
          <p>{text.keepGoneText}</p>
        </MessagePage>
      );
    const retry = (
      <Button
        variant="primary"
        onPress={() => {
          setAnswer(null);
          setRound((it) => it + 1);
        }}
      >
        {text.tryAgain}
      </Button>
    );
    return (
      <MessagePage title={text.offlineTitle} action={retry}>
        <p>{text.offlineText}</p>
      </MessagePage>
    );
  }
  const { site, email, deletionDate } = answer.value;
  if (deletionDate === undefined)
    return (
      <>
        <div role="status">
          <StepHead title={text.keptTitle} site={site.name}>
            {text.passwordFor({ account: email })}
          </StepHead>
        </div>
        <p>{text.keptText}</p>
        <Link href={startUrl({ kind: 'SIGN_IN' })} variant="primary">
          {text.signIn}
        </Link>
      </>
    );
  const keep = () => {
    if (isSending) return;
    setIsSending(true);
    setHasFailed(false);
    void undoDeletion(token).then((next) => {
      setIsSending(false);
      // The link named the site, which the address of the page may not; what stood behind `#` is used up.
      if ('value' in next) nameSite(next.value.site.id);
      if ('failure' in next && next.failure.why !== 'expired') setHasFailed(true);
      else setAnswer(next);
    });
  };
  return (
    <>
      <StepHead title={text.keepTitle({ site: site.name })} site={site.name}>
        {text.passwordFor({ account: email })}
      </StepHead>
      <div className="step-callout">
        {hasFailed && (
          <Callout tone="bad" announce="alert">
            <p>{text.offlineText}</p>
          </Callout>
        )}
      </div>
      <div className="step-stack">
        <p>{text.keepText({ date: writtenDate(deletionDate, language) })}</p>
        <Button variant="primary" wide pending={isSending} onPress={keep}>
          {text.keepAccount}
        </Button>
      </div>
    </>
  );
}
