import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Link } from '@stoa/ui/Link';
import { LoadingState } from '@stoa/ui/States';
import {
  changePassword,
  endOtherSessions,
  endSession,
  operatorAccount,
  operatorCalls,
  readAccount,
  type OwnerAccount,
  type OwnerSession,
} from '../api/owner.ts';
import { SIGNED_OUT, type Answer, type Failure } from '../api/request.ts';
import { startUrl } from '../flow/route.ts';
import { writtenDate } from '../page/dates.ts';
import { MessagePage } from '../page/FailurePage.tsx';
import { WithLaterTexts, useAllTexts } from '../page/WithLaterTexts.tsx';
import { placeName } from './countries.ts';
import { FactorPart } from './FactorPart.tsx';
import { Frame, Note, failureText } from './Frame.tsx';
import { Part } from './Part.tsx';
import { PasswordForm } from './PasswordForm.tsx';
import { SessionList } from './SessionList.tsx';
import { WithProof, useProof } from './WithProof.tsx';

export interface OwnerPageProps {
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
}

/** Those who run a site look after their password, their factors and where they are signed in. */
export const OwnerPage = (props: OwnerPageProps) => (
  <WithLaterTexts language={props.language}>
    <Access {...props} />
  </WithLaterTexts>
);

function Access({ language, onSite }: OwnerPageProps) {
  const text = useAllTexts();
  const [answer, setAnswer] = useState<Answer<OwnerAccount> | null>(null);
  const [round, setRound] = useState(0);
  // The page's language may become another one with the site, about which is not asked once more.
  const now = useRef({ language, onSite });
  useEffect(() => {
    now.current = { language, onSite };
  });
  useEffect(() => {
    let isOver = false;
    void readAccount(now.current.language).then((it) => {
      if (isOver) return;
      setAnswer(it);
      if ('value' in it) now.current.onSite(it.value.site);
    });
    return () => {
      isOver = true;
    };
  }, [round]);
  const signOut = useCallback((failure: Failure) => {
    setAnswer({ failure });
  }, []);

  if (answer === null) return <LoadingState level={1} label={text.loading} />;
  if ('value' in answer) return <Opened account={answer.value} language={language} onSignedOut={signOut} />;
  if (answer.failure.code === SIGNED_OUT)
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
      <p>{failureText(text, answer.failure)}</p>
    </MessagePage>
  );
}

interface OpenedProps {
  account: OwnerAccount;
  language: string;
  /** The session has ended while the page was open. */
  onSignedOut: (failure: Failure) => void;
}

/** What is under way or was done last. */
type Doing = 'password' | 'session' | null;

function Opened({ account: opened, language, onSignedOut }: OpenedProps) {
  const text = useAllTexts();
  const calls = useMemo(() => operatorCalls(onSignedOut), [onSignedOut]);
  const as = { ask: calls.ask, language };
  const { loaded, stepUp } = useProof(calls);
  const [account, setAccount] = useState(opened);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [sending, setSending] = useState<Doing>(null);
  const [done, setDone] = useState<Doing>(null);
  const [round, setRound] = useState(0);

  const send = (what: Doing, ask: () => Promise<Answer<OwnerAccount>>) => {
    if (sending !== null) return;
    setSending(what);
    void stepUp.run(ask).then((answer) => {
      setSending(null);
      if (answer === null) return;
      setRound((it) => it + 1);
      setFailure('failure' in answer ? answer.failure : null);
      setDone('value' in answer && answer.value.problems.length === 0 ? what : null);
      if ('value' in answer) setAccount(answer.value);
    });
  };
  const known = useMemo(() => operatorAccount(account.site), [account.site]);
  const factors = loaded.answer !== null && 'value' in loaded.answer ? loaded.answer.value.factors : [];
  const lines = (it: OwnerSession) => [
    text.sessionSince({ site: it.siteName, date: writtenDate(it.createdDate, language) }),
    ...(it.address === null ? [] : [text.sessionFrom({ address: it.address })]),
    ...(it.place === null ? [] : [text.sessionPlace({ place: placeName(it.place, language) })]),
  ];
  return (
    <Frame title={text.securityTitle} site={account.site.name} email={account.email}>
      <WithProof account={known} calls={calls} factors={factors} stepUp={stepUp}>
        <Note
          failure={failure}
          done={
            done === 'password' ? { title: text.done.PASSWORD_CHANGED, text: text.doneText.PASSWORD_CHANGED } : null
          }
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
            send('password', () => changePassword(as, old, password));
          }}
        />
        <Part loaded={loaded}>
          {(found) => (
            <FactorPart
              account={known}
              calls={calls}
              stepUp={stepUp}
              language={language}
              factors={found}
              codesFor={account.email}
              onChanged={loaded.reload}
            />
          )}
        </Part>
        <section className="my-part" aria-labelledby="sessions">
          <h2 id="sessions" className="my-head">
            {text.sessionsTitle}
          </h2>
          <SessionList
            sessions={account.sessions.map((it) => ({ ...it, lines: lines(it) }))}
            hasEnded={done === 'session'}
            onEnd={(session) => {
              send('session', () => (session === null ? endOtherSessions(as) : endSession(as, session)));
            }}
          />
        </section>
      </WithProof>
    </Frame>
  );
}
