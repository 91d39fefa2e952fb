import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import type { Answer, Failure } from '../api/request.ts';
import { nameSite } from '../api/site.ts';
import { ByLink } from './ByLink.tsx';
import { StepHead, TITLE_ID } from './StepHead.tsx';
import { useAllTexts } from './WithLaterTexts.tsx';

/** What every link is about. */
interface About {
  site: SiteFace;
  email: string;
}

export interface LinkPageProps<Value extends About> {
  token: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
  read: (token: string) => Promise<Answer<Value>>;
  /** What the button does. */
  undo: (token: string) => Promise<Answer<Value>>;
  isDone: (value: Value) => boolean;
  question: (value: Value) => { title: string; text: string; action: string };
  done: { title: string; text: string; link: () => ReactNode };
  /** For links that are used, too old or unknown. */
  gone: { title: string; text: string };
  /** Why the button did nothing, where that isn't that there was no answer. */
  refused?: (failure: Failure) => string | undefined;
}

/** A page to which a link in a message leads, by which a member keeps something. Opening it changes nothing. */
export function LinkPage<Value extends About>(props: LinkPageProps<Value>) {
  const { token, onSite, read, gone } = props;
  return (
    <ByLink token={token} onSite={onSite} read={read} gone={{ title: gone.title, text: <p>{gone.text}</p> }}>
      {(value, put) => <Keeping {...props} value={value} put={put} />}
    </ByLink>
  );
}

type KeepingProps<Value extends About> = LinkPageProps<Value> & { value: Value; put: (answer: Answer<Value>) => void };

function Keeping<Value extends About>({
  token,
  undo,
  isDone,
  question,
  done,
  refused,
  value,
  put,
}: KeepingProps<Value>) {
  const text = useAllTexts();
  const [isSending, setIsSending] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  // The pressed button goes, and with it the focus.
  const isUsed = isDone(value);
  const wasUsed = useRef(isUsed);
  useEffect(() => {
    if (isUsed && !wasUsed.current) document.getElementById(TITLE_ID)?.focus();
    wasUsed.current = isUsed;
  }, [isUsed]);

  const { site, email } = value;
  if (isUsed)
    return (
      <>
        <div role="status">
          <StepHead title={done.title} site={site.name}>
            {text.passwordFor({ account: email })}
          </StepHead>
        </div>
        <p>{done.text}</p>
        {done.link()}
      </>
    );
  const press = () => {
    if (isSending) return;
    setIsSending(true);
    setFailure(null);
    void undo(token).then((next) => {
      setIsSending(false);
      // The link named the site, which the address of the page may not; what stood behind `#` is used up.
      if ('value' in next) nameSite(next.value.site.id);
      if ('failure' in next && next.failure.why !== 'expired') setFailure(next.failure);
      else put(next);
    });
  };
  const asked = question(value);
  return (
    <>
      <StepHead title={asked.title} site={site.name}>
        {text.passwordFor({ account: email })}
      </StepHead>
      <div className="step-callout">
        {failure !== null && (
          <Callout tone="bad" announce="alert">
            <p>{refused?.(failure) ?? text.offlineText}</p>
          </Callout>
        )}
      </div>
      <div className="step-stack">
        <p>{asked.text}</p>
        <Button variant="primary" wide pending={isSending} onPress={press}>
          {asked.action}
        </Button>
      </div>
    </>
  );
}
