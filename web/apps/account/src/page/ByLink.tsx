import { useEffect, useState, type ReactNode } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { LoadingState } from '@stoa/ui/States';
import type { Answer } from '../api/request.ts';
import { MessagePage } from './FailurePage.tsx';
import { useAllTexts } from './WithLaterTexts.tsx';

export interface ByLinkProps<Value extends { site: SiteFace }> {
  token: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
  read: (token: string) => Promise<Answer<Value>>;
  /** Shown for links that are used, too old or unknown. */
  gone: { title: string; text: ReactNode };
  /** Shown once it is known what the link is about; `put` takes what the server answers later. */
  children: (value: Value, put: (answer: Answer<Value>) => void) => ReactNode;
}

/** What a link in a message is about, read when its page is opened. */
export function ByLink<Value extends { site: SiteFace }>({ token, onSite, read, gone, children }: ByLinkProps<Value>) {
  const text = useAllTexts();
  const [answer, setAnswer] = useState<Answer<Value> | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    void read(token).then((next) => {
      if (isOver) return;
      setAnswer(next);
      if ('value' in next) onSite(next.value.site);
    });
    return () => {
      isOver = true;
    };
  }, [token, onSite, read, round]);

  if (answer === null) return <LoadingState level={1} label={text.loading} />;
  if ('value' in answer) return children(answer.value, setAnswer);
  if (answer.failure.why === 'expired') return <MessagePage title={gone.title}>{gone.text}</MessagePage>;
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
