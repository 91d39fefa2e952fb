import { useEffect, useRef, useState } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { decideApproval, readApproval, type ApprovalRequest, type Decision } from '../api/approval.ts';
import type { Answer } from '../api/request.ts';
import { ByLink } from './ByLink.tsx';
import { writtenDate } from './dates.ts';
import { StepHead, TITLE_ID } from './StepHead.tsx';
import { useAllTexts } from './WithLaterTexts.tsx';

export interface ApprovalPageProps {
  token: string;
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
}

/** An owner decides about a member who waits. Opening the page changes nothing; declining takes a second press. */
export function ApprovalPage({ token, language, onSite }: ApprovalPageProps) {
  const text = useAllTexts();
  const gone = (
    <>
      <p>{text.approveGoneText}</p>
      <p>{text.messageSentText}</p>
    </>
  );
  return (
    <ByLink token={token} onSite={onSite} read={readApproval} gone={{ title: text.approveGoneTitle, text: gone }}>
      {(request, put) => <Deciding token={token} language={language} request={request} put={put} />}
    </ByLink>
  );
}

interface DecidingProps {
  token: string;
  language: string;
  request: ApprovalRequest;
  put: (answer: Answer<ApprovalRequest>) => void;
}

function Deciding({ token, language, request, put }: DecidingProps) {
  const text = useAllTexts();
  const [sending, setSending] = useState<Decision | null>(null);
  const [failed, setFailed] = useState(false);
  const [declines, setDeclines] = useState(false);

  // What is asked, or how it was answered: a new one takes the focus, which the pressed button can't keep.
  const question = `${request.state} ${String(declines)}`;
  const asked = useRef(question);
  useEffect(() => {
    if (asked.current !== question) document.getElementById(TITLE_ID)?.focus();
    asked.current = question;
  }, [question]);

  if (request.state !== 'PENDING') {
    const title =
      request.state === 'APPROVED'
        ? text.approvedTitle({ name: request.name })
        : text.declinedTitle({ name: request.name });
    return (
      <div role="status">
        <StepHead title={title} site={request.siteName}>
          {text.approveTold}
        </StepHead>
      </div>
    );
  }

  const decide = (decision: Decision) => {
    if (sending !== null) return;
    setSending(decision);
    setFailed(false);
    void decideApproval(token, decision).then((next) => {
      setSending(null);
      if ('failure' in next && next.failure.why !== 'expired') setFailed(true);
      else put(next);
    });
  };
  return (
    <>
      {declines ? (
        <StepHead title={text.declineTitle({ name: request.name })} site={request.siteName}>
          {text.declineText}
        </StepHead>
      ) : (
        <StepHead title={text.approveTitle({ name: request.name, site: request.siteName })} site={request.siteName} />
      )}
      <div className="step-stack">
        <Who request={request} language={language} />
        {failed && <Callout tone="bad">{text.offlineText}</Callout>}
        {declines ? (
          <>
            <Button
              key="decline for good"
              variant="danger"
              wide
              pending={sending === 'DECLINE'}
              onPress={() => {
                decide('DECLINE');
              }}
            >
              {text.decline}
            </Button>
            <Button
              key="back"
              wide
              onPress={() => {
                setDeclines(false);
              }}
            >
              {text.back}
            </Button>
          </>
        ) : (
          <>
            <Button
              key="approve"
              variant="primary"
              wide
              pending={sending === 'APPROVE'}
              onPress={() => {
                decide('APPROVE');
              }}
            >
              {text.approve}
            </Button>
            <Button
              key="decline"
              wide
              onPress={() => {
                setDeclines(true);
              }}
            >
              {text.decline}
            </Button>
          </>
        )}
      </div>
    </>
  );
}

function Who({ request, language }: { request: ApprovalRequest; language: string }) {
  const text = useAllTexts();
  const when = writtenDate(request.createdDate, language);
  return (
    <>
      <p>
        <bdi>{request.email}</bdi>
      </p>
      <p>{text.approveSince({ date: when })}</p>
      {!request.emailVerified && <Callout tone="warn">{text.approveUnproven}</Callout>}
    </>
  );
}
