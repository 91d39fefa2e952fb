import { Suspense, lazy, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { SiteFace } from '@stoa/api';
import { LoadingState } from '@stoa/ui/States';
import { openAccount, type MemberAccount } from '../api/member.ts';
import { SIGNED_OUT, type Answer } from '../api/request.ts';
import { nameSite } from '../api/site.ts';
import type { AccountSection } from '../flow/route.ts';
import { FailurePage } from '../page/FailurePage.tsx';
import { WithLaterTexts } from '../page/WithLaterTexts.tsx';
import { useText } from '../page/text.ts';

/** Strangers need not load it. */
const MyPage = lazy(() => import('./MyPage.tsx').then((it) => ({ default: it.MyPage })));

export interface AccountGateProps {
  section: AccountSection;
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
  /** No member is signed in at the site in this browser. */
  onStranger: () => void;
}

/** The way to a member's account: for those who are signed in. */
export function AccountGate({ section, language, onSite, onStranger }: AccountGateProps) {
  const text = useText();
  const [answer, setAnswer] = useState<Answer<MemberAccount> | null>(null);
  const [round, setRound] = useState(0);
  const told = useRef({ onSite, onStranger });
  useEffect(() => {
    told.current = { onSite, onStranger };
  });
  useEffect(() => {
    let isOver = false;
    void openAccount().then((it) => {
      if (isOver) return;
      if ('failure' in it && it.failure.code === SIGNED_OUT) {
        told.current.onStranger();
        return;
      }
      // Without it the host may not tell which site is meant: the only cookie did.
      if ('value' in it) nameSite(it.value.site.id);
      setAnswer(it);
      if ('value' in it) told.current.onSite(it.value.site);
    });
    return () => {
      isOver = true;
    };
  }, [round]);
  // A page that the browser brings back from its memory may show the account of a member who has signed out.
  useEffect(() => {
    const shown = (event: PageTransitionEvent) => {
      if (!event.persisted) return;
      flushSync(() => {
        setAnswer(null);
      });
      setRound((it) => it + 1);
    };
    addEventListener('pageshow', shown);
    return () => {
      removeEventListener('pageshow', shown);
    };
  }, []);
  const waiting = <LoadingState level={1} label={text.loading} />;
  if (answer === null) return waiting;
  if ('failure' in answer)
    return (
      <FailurePage
        failure={answer.failure}
        start={{ kind: 'SIGN_IN' }}
        onRetry={() => {
          setAnswer(null);
          setRound((it) => it + 1);
        }}
      />
    );
  return (
    <Suspense fallback={waiting}>
      <WithLaterTexts language={language}>
        <MyPage account={answer.value} section={section} language={language} />
      </WithLaterTexts>
    </Suspense>
  );
}
