import { useEffect, useState } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { Form, FormActions, ProblemSummary } from '@stoa/ui/Form';
import { Link } from '@stoa/ui/Link';
import { PasswordField } from '@stoa/ui/PasswordField';
import { LoadingState } from '@stoa/ui/States';
import {
  SIGNED_OUT,
  changePassword,
  endOtherSessions,
  endSession,
  readAccount,
  type OwnerAccount,
  type OwnerSession,
} from '../api/owner.ts';
import type { Answer, Failure } from '../api/request.ts';
import { startUrl } from '../flow/route.ts';
import { problemText } from '../text/problems.ts';
import { writtenDate } from './dates.ts';
import { MessagePage } from './FailurePage.tsx';
import { StepHead } from './StepHead.tsx';
import { useText } from './text.ts';
import './OwnerPage.css';

export interface OwnerPageProps {
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
}

/** What is under way or was done last. */
type Doing = 'password' | 'session' | null;

/** Those who run a site change their password, see where they are signed in, and end it there. */
export function OwnerPage({ language, onSite }: OwnerPageProps) {
  const text = useText();
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
        <p>{problemText(text, failure.code, failure.message) || text.offlineText}</p>
      </MessagePage>
    );
  }
  return (
    <>
      <StepHead title={text.securityTitle} site={account.site.name}>
        {text.signedInAs({ name: account.email })}
      </StepHead>
      {failure !== null && (
        <div className="step-callout">
          <Callout tone="bad" announce="alert">
            <p>{problemText(text, failure.code, failure.message) || text.offlineText}</p>
          </Callout>
        </div>
      )}
      {done === 'password' && (
        <div className="step-callout">
          <Callout tone="good" announce="status" title={text.done.PASSWORD_CHANGED}>
            <p>{text.doneText.PASSWORD_CHANGED}</p>
          </Callout>
        </div>
      )}
      {/* A password that was taken empties the form. */}
      <PasswordForm
        key={done === 'password' ? round : 'form'}
        account={account}
        round={round}
        sending={sending === 'password'}
        onSend={(old, password) => {
          if (sending === null) ask('password', changePassword(old, password));
        }}
      />
      <Sessions
        account={account}
        language={language}
        hasEnded={done === 'session'}
        onEnd={(session) => {
          if (sending === null) ask('session', session === null ? endOtherSessions() : endSession(session));
        }}
      />
    </>
  );
}

interface PasswordFormProps {
  account: OwnerAccount;
  round: number;
  sending: boolean;
  onSend: (old: string, password: string) => void;
}

function PasswordForm({ account, round, sending, onSend }: PasswordFormProps) {
  const text = useText();
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  const [isEmpty, setIsEmpty] = useState(false);
  const least = account.passwordMinLength;
  const at = (field: string, value: string) => {
    if (isEmpty && value === '') return text.problem.required;
    const found = account.problems.filter((it) => it.field === field);
    return found.map((it) => problemText(text, it.code, it.message, least)).join(' ') || undefined;
  };
  const whole = account.problems.filter((it) => it.field !== 'old' && it.field !== 'password');
  return (
    <Form
      labelledBy="change-password"
      onSubmit={() => {
        const isMissing = old === '' || password === '';
        setIsEmpty(isMissing);
        if (!isMissing) onSend(old, password);
      }}
    >
      <h2 id="change-password" className="owner-head">
        {text.changePassword}
      </h2>
      <ProblemSummary
        title={text.problemsTitle}
        problems={whole.map((it) => ({ key: it.code, text: problemText(text, it.code, it.message, least) }))}
        round={round}
      />
      {/* For password managers. */}
      <input
        className="stoa-hidden"
        type="text"
        autoComplete="username"
        value={account.email}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      <PasswordField
        label={text.oldPassword}
        name="old"
        autoComplete="current-password"
        isRequired
        showLabel={text.showPassword}
        hideLabel={text.hidePassword}
        value={old}
        onChange={setOld}
        error={at('old', old)}
      />
      <PasswordField
        label={text.newPassword}
        name="password"
        autoComplete="new-password"
        isRequired
        showLabel={text.showPassword}
        hideLabel={text.hidePassword}
        help={text.passwordLength({ n: least })}
        value={password}
        onChange={setPassword}
        error={at('password', password)}
      />
      <FormActions>
        <Button type="submit" variant="primary" wide pending={sending}>
          {text.savePassword}
        </Button>
      </FormActions>
    </Form>
  );
}

interface SessionsProps {
  account: OwnerAccount;
  language: string;
  hasEnded: boolean;
  /** Ends one session, or with null all but the one that asks. */
  onEnd: (session: string | null) => void;
}

function Sessions({ account, language, hasEnded, onEnd }: SessionsProps) {
  const text = useText();
  const device = (it: OwnerSession) => (it.device === null || it.device === '?' ? text.unknownDevice : it.device);
  const since = (it: OwnerSession) =>
    text.sessionSince({ site: it.siteName, date: writtenDate(it.createdDate, language) });
  const others = account.sessions.filter((it) => !it.isCurrent);
  return (
    <section className="owner-sessions" aria-labelledby="sessions">
      <h2 id="sessions" className="owner-head">
        {text.sessionsTitle}
      </h2>
      <p role="status" className="step-quiet">
        {hasEnded ? text.sessionEnded : ''}
      </p>
      <ul>
        {account.sessions.map((it) => (
          <li key={it.id}>
            <div>
              <strong>{device(it)}</strong>
              <span className="step-quiet">{since(it)}</span>
              {it.isCurrent && <span className="step-quiet">{text.sessionHere}</span>}
            </div>
            {!it.isCurrent && (
              <Button
                aria-label={`${text.endSession}: ${device(it)}, ${since(it)}`}
                onPress={() => {
                  onEnd(it.id);
                }}
              >
                {text.endSession}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {others.length > 1 && (
        <Button
          wide
          onPress={() => {
            onEnd(null);
          }}
        >
          {text.endOthers}
        </Button>
      )}
    </section>
  );
}
