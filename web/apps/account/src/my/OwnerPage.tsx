import { useEffect, useState } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Link } from '@stoa/ui/Link';
import { LoadingState } from '@stoa/ui/States';
import { changePassword, endOtherSessions, endSession, readAccount, type OwnerAccount } from '../api/owner.ts';
import { SIGNED_OUT, type Answer, type Failure } from '../api/request.ts';
import { startUrl } from '../flow/route.ts';
import { writtenDate } from '../page/dates.ts';
import { MessagePage } from '../page/FailurePage.tsx';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Frame, Note, failureText } from './Frame.tsx';
import { PasswordForm } from './PasswordForm.tsx';
import { SessionList } from './SessionList.tsx';

export interface OwnerPageProps {
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
}

/** What is under way or was done last. */
type Doing = 'password' | 'session' | null;

/** Those who run a site change their password, see where they are signed in, and end it there. */
export function OwnerPage({ language, onSite }: OwnerPageProps) {
  const text = useAllTexts();
  const [account, setAccount] = useState<OwnerAccount | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [sending, setSending] = useState<Doing>(null);
  const [done, setDone] = useState<Doing>(null);
  const [round, setRound] = useState(0);

  const take = (answer: Answer<OwnerAccount>, what: Doing) => {
    setSending(null);
    setRound((it) => it + 1);
    if ('failure' in answer) {
      setFailure(answer.failure);
      setDone(null);
      return;
    }
    setFailure(null);
    setAccount(answer.value);
    setDone(answer.value.problems.length === 0 ? what : null);
    onSite(answer.value.site);
  };
  const ask = (what: Doing, asked: Promise<Answer<OwnerAccount>>) => {
    setSending(what);
    void asked.then((answer) => {
      take(answer, what);
    });
  };
  useEffect(() => {
    let isOver = false;
    void readAccount().then((answer) => {
      if (!isOver) take(answer, null);
    });
    return () => {
      isOver = true;
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- asked once
  }, []);

  if (failure?.code === SIGNED_OUT)
    return (
      <MessagePage
        title={text.securityTitle}
        action={
          <Link href={startUrl({ kind: 'OWNER_SIGN_IN' })} variant="primary">
            {text.signIn}
          </Link>
        }
      >
        <p>{text.signInFirst}</p>
      </MessagePage>
    );
  if (account === null) {
    if (failure === null) return <LoadingState level={1} label={text.loading} />;
    const retry = (
      <Button
        variant="primary"
        onPress={() => {
          ask(null, readAccount());
        }}
      >
        {text.tryAgain}
      </Button>
    );
    return (
      <MessagePage title={text.offlineTitle} action={retry}>
        <p>{failureText(text, failure)}</p>
      </MessagePage>
    );
  }
  const since = (site: string, iso: string) => text.sessionSince({ site, date: writtenDate(iso, language) });
  return (
    <Frame title={text.securityTitle} site={account.site.name} email={account.email}>
      <Note
        failure={failure}
        done={done === 'password' ? { title: text.done.PASSWORD_CHANGED, text: text.doneText.PASSWORD_CHANGED } : null}
      />
      {/* A password that was taken empties the form. */}
      <PasswordForm
        key={done === 'password' ? round : 'form'}
        email={account.email}
        passwordMinLength={account.passwordMinLength}
        problems={account.problems}
        round={round}
        sending={sending === 'password'}
        onSend={(old, password) => {
          if (sending === null) ask('password', changePassword(old, password));
        }}
      />
      <section className="my-part" aria-labelledby="sessions">
        <h2 id="sessions" className="my-head">
          {text.sessionsTitle}
        </h2>
        <SessionList
          sessions={account.sessions.map((it) => ({ ...it, lines: [since(it.siteName, it.createdDate)] }))}
          hasEnded={done === 'session'}
          onEnd={(session) => {
            if (sending === null) ask('session', session === null ? endOtherSessions() : endSession(session));
          }}
        />
      </section>
    </Frame>
  );
}
