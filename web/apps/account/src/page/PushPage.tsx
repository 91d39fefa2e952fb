import { useEffect, useRef, useState } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { CodeField } from '@stoa/ui/CodeField';
import { Form, FormActions } from '@stoa/ui/Form';
import { Link } from '@stoa/ui/Link';
import { LoadingState } from '@stoa/ui/States';
import { WRONG_NUMBER, answerQuestion, readQuestion, type PushQuestion } from '../api/push.ts';
import type { Answer, Failure } from '../api/request.ts';
import { accountUrl } from '../flow/route.ts';
import { problemText } from '../text/problems.ts';
import type { PushTexts } from '../text/push.ts';
import { writtenDate } from './dates.ts';
import { MessagePage } from './FailurePage.tsx';
import { StepHead, TITLE_ID } from './StepHead.tsx';
import { useAllTexts } from './WithLaterTexts.tsx';
import './PushPage.css';

export interface PushPageProps {
  token: string;
  language: string;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
}

const DIGITS = 2;

/** How the question was answered here. */
type End = 'confirmed' | 'denied' | 'wrong' | 'protect';

/** The texts of a question. */
const wordsOf = (text: PushTexts, question: PushQuestion) =>
  question.for === 'CHANGE' ? { ...text, ...text.change } : text;

/** What a notification leads to: whether the member is the one who signs in, or changes the account, elsewhere. Opening the page changes nothing. */
export function PushPage({ token, language, onSite }: PushPageProps) {
  const text = useAllTexts();
  const [answer, setAnswer] = useState<Answer<PushQuestion> | null>(null);
  const [end, setEnd] = useState<End | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    void readQuestion(token).then((next) => {
      if (isOver) return;
      setAnswer(next);
      if ('value' in next) onSite(next.value.site);
    });
    return () => {
      isOver = true;
    };
  }, [token, onSite, round]);

  // The pressed button goes, and with it the focus.
  const before = useRef(end);
  useEffect(() => {
    if (before.current !== end) document.getElementById(TITLE_ID)?.focus();
    before.current = end;
  }, [end]);

  if (answer === null) return <LoadingState level={1} label={text.loading} />;
  if ('failure' in answer) {
    if (answer.failure.why === 'expired')
      return (
        <MessagePage title={text.push.goneTitle}>
          <p>{text.push.goneText}</p>
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
    const isOffline = answer.failure.why === 'offline';
    return (
      <MessagePage title={isOffline ? text.offlineTitle : text.brokenTitle} action={retry}>
        <p>{isOffline ? text.offlineText : failureText(answer.failure)}</p>
      </MessagePage>
    );
  }
  const question = answer.value;
  if (end !== null) return <Ended end={end} question={question} onEnd={setEnd} />;
  return (
    <Asked
      token={token}
      question={question}
      language={language}
      failureText={failureText}
      onEnd={setEnd}
      onGone={(failure) => {
        setAnswer({ failure });
      }}
    />
  );

  function failureText({ why, code, message }: Failure): string {
    if (why === 'offline') return text.offlineText;
    return problemText(text, code, message) || text.brokenText;
  }
}

interface AskedProps {
  token: string;
  question: PushQuestion;
  language: string;
  failureText: (failure: Failure) => string;
  onEnd: (end: End) => void;
  /** The question was over already. */
  onGone: (failure: Failure) => void;
}

/** Who signs in where, and the number that only they see. */
function Asked({ token, question, language, failureText, onEnd, onGone }: AskedProps) {
  const text = useAllTexts();
  const words = wordsOf(text.push, question);
  const [number, setNumber] = useState('');
  const [wrong, setWrong] = useState<string | undefined>();
  const [sending, setSending] = useState<'number' | 'denial' | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const send = (what: 'number' | 'denial') => {
    if (sending !== null) return;
    setSending(what);
    setFailure(null);
    void answerQuestion(token, what === 'denial' ? { denied: true } : { number }).then((next) => {
      setSending(null);
      if ('value' in next) onEnd(what === 'denial' ? 'denied' : 'confirmed');
      else if (next.failure.code === WRONG_NUMBER) onEnd('wrong');
      else if (next.failure.why === 'expired') onGone(next.failure);
      else setFailure(next.failure);
    });
  };
  return (
    <>
      <StepHead title={words.askTitle({ site: question.site.name })} site={question.site.name}>
        {words.askText}
      </StepHead>
      <dl className="push-facts">
        <dt>{text.push.device}</dt>
        <dd>
          <bdi>{question.device ?? text.unknownDevice}</bdi>
        </dd>
        {question.address !== undefined && (
          <>
            <dt>{text.push.address}</dt>
            <dd>
              <bdi>{question.address}</bdi>
            </dd>
          </>
        )}
        <dt>{text.push.time}</dt>
        <dd>{writtenDate(question.createdDate, language)}</dd>
      </dl>
      <Form
        onSubmit={() => {
          if (number.length === DIGITS) {
            send('number');
            return;
          }
          setWrong(text.problem.required);
          field.current?.focus();
        }}
      >
        {failure !== null && (
          <Callout tone="bad" announce="alert">
            <p>{failureText(failure)}</p>
          </Callout>
        )}
        <CodeField
          label={words.number}
          name="number"
          length={DIGITS}
          inputRef={field}
          value={number}
          onChange={(digits) => {
            setNumber(digits);
            setWrong(undefined);
          }}
          error={wrong}
        />
        <FormActions>
          <Button type="submit" variant="primary" wide pending={sending === 'number'}>
            {text.push.confirm}
          </Button>
          <Button
            wide
            pending={sending === 'denial'}
            onPress={() => {
              send('denial');
            }}
          >
            {text.push.deny}
          </Button>
        </FormActions>
      </Form>
    </>
  );
}

function Ended({ end, question, onEnd }: { end: End; question: PushQuestion; onEnd: (end: End) => void }) {
  const text = wordsOf(useAllTexts().push, question);
  const site = question.site.name;
  switch (end) {
    case 'confirmed':
      return (
        <StepHead title={text.confirmedTitle} site={site}>
          {text.confirmedText}
        </StepHead>
      );
    case 'protect':
      return (
        <>
          <StepHead title={text.protectTitle} site={site}>
            {text.protectText}
          </StepHead>
          <div className="step-stack">
            <Link href={accountUrl('password')} variant="primary">
              {text.changePassword}
            </Link>
            <Link href={accountUrl('sessions')}>{text.seeSessions}</Link>
          </div>
        </>
      );
    case 'denied':
    case 'wrong':
      return (
        <>
          <StepHead title={end === 'wrong' ? text.wrongTitle : text.deniedTitle} site={site}>
            {end === 'wrong' ? text.wrongText : text.deniedText}
          </StepHead>
          <Button
            wide
            onPress={() => {
              onEnd('protect');
            }}
          >
            {text.notMe}
          </Button>
        </>
      );
  }
}
