import { useEffect, useRef, type ReactNode } from 'react';
import type { FlowStart } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Link } from '@stoa/ui/Link';
import { ErrorState } from '@stoa/ui/States';
import type { Failure } from '../api/request.ts';
import { startUrl } from '../flow/route.ts';
import { problemText } from '../text/problems.ts';
import { usePageTitle } from './StepHead.tsx';
import { useText } from './text.ts';

export interface MessagePageProps {
  title: string;
  /** Whose page it is, where that is known. */
  site?: string;
  action?: ReactNode;
  children: ReactNode;
}

/** A page that only says something, and perhaps where to go from there. */
export function MessagePage({ title, site, action, children }: MessagePageProps) {
  const heading = useRef<HTMLSpanElement>(null);
  usePageTitle(title, site);
  useEffect(() => {
    if (self === top) heading.current?.focus();
  }, [title]);
  return (
    <ErrorState
      level={1}
      title={
        <span ref={heading} tabIndex={-1}>
          {title}
        </span>
      }
      action={action}
    >
      {children}
    </ErrorState>
  );
}

/** No view could be had: the whole page says why and what to do. */
export function FailurePage({ failure, start, onRetry }: { failure: Failure; start: FlowStart; onRetry: () => void }) {
  const text = useText();
  const retry = (
    <Button variant="primary" onPress={onRetry}>
      {text.tryAgain}
    </Button>
  );
  switch (failure.why) {
    case 'offline':
      return (
        <MessagePage title={text.offlineTitle} action={retry}>
          <p>{text.offlineText}</p>
        </MessagePage>
      );
    case 'expired':
      return (
        <MessagePage title={text.expiredTitle} action={<Restart start={start} />}>
          <p>{text.expiredText}</p>
        </MessagePage>
      );
    case 'refused':
      return (
        <MessagePage title={text.failedTitle} action={restartAfter(failure.code, start)}>
          <p>{problemText(text, failure.code, failure.message) || text.brokenText}</p>
        </MessagePage>
      );
    case 'broken':
      return (
        <MessagePage title={text.brokenTitle} action={retry}>
          <p>{text.brokenText}</p>
          {failure.requestId !== null && <p className="step-reference">{text.requestId({ id: failure.requestId })}</p>}
        </MessagePage>
      );
  }
}

/** Codes that say that the address itself leads nowhere: starting again with it would end here too. */
export const NOWHERE = new Set(['CLIENT_NOT_FOUND', 'SITE_NOT_FOUND']);

function restartAfter(code: string, start: FlowStart): ReactNode {
  if (NOWHERE.has(code)) return null;
  const { returnUrl, ...others } = start;
  return <Restart start={code === 'REDIRECT_URI_NOT_ALLOWED' || returnUrl === undefined ? others : start} />;
}

export function Restart({ start }: { start: FlowStart }) {
  const text = useText();
  return (
    <Link href={startUrl(start)} variant="primary">
      {text.startAgain}
    </Link>
  );
}
