import { useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import {
  DAYS_CHANGED,
  askDeletion,
  memberCalls,
  openAccount,
  readExport,
  type Ask,
  type MemberAccount,
} from '../api/member.ts';
import type { Answer, Failure } from '../api/request.ts';
import { saveFile } from '../parts/saveFile.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Note } from './Frame.tsx';
import { Part } from './Part.tsx';
import type { StepUp } from './useStepUp.ts';
import { WithProof, useProof } from './WithProof.tsx';

export interface PrivacyPartProps {
  account: MemberAccount;
  ask: Ask;
  /** The account goes: when, or null where it is gone already. */
  onLeft: (date: string | null) => void;
}

/** A copy of what is known of the member, and the end of the account. */
export function PrivacyPart({ account, ask, onLeft }: PrivacyPartProps) {
  const calls = useMemo(() => memberCalls(ask), [ask]);
  const { loaded, stepUp } = useProof(calls);
  return (
    <Part loaded={loaded}>
      {(factors) => (
        <WithProof account={account} calls={calls} factors={factors.factors} stepUp={stepUp}>
          <CopyPart ask={ask} stepUp={stepUp} />
          <DeletionPart account={account} ask={ask} stepUp={stepUp} onLeft={onLeft} />
        </WithProof>
      )}
    </Part>
  );
}

function CopyPart({ ask, stepUp }: { ask: Ask; stepUp: StepUp }) {
  const text = useAllTexts();
  const { failure, isSending, act } = useSending(stepUp);
  const [isDone, setIsDone] = useState(false);
  return (
    <section className="my-part" aria-labelledby="copy">
      <h2 id="copy" className="my-head">
        {text.copyTitle}
      </h2>
      <Note failure={failure} done={isDone ? { text: text.copyReady } : null} />
      <p>{text.copyText}</p>
      <div>
        <Button
          pending={isSending}
          onPress={() => {
            setIsDone(false);
            act(
              () => readExport(ask),
              (copy) => {
                saveFile('my-data.json', copy, 'application/json');
                setIsDone(true);
              },
            );
          }}
        >
          {text.copyAction}
        </Button>
      </div>
    </section>
  );
}

function DeletionPart({ account, ask, stepUp, onLeft }: PrivacyPartProps & { stepUp: StepUp }) {
  const text = useAllTexts();
  const { failure, isSending, act } = useSending(stepUp);
  const [isAsking, setIsAsking] = useState(false);
  const opener = useRef<HTMLHeadingElement>(null);
  const wasAsking = useRef(isAsking);
  // The button that closed the question went with it.
  useEffect(() => {
    if (wasAsking.current && !isAsking) opener.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  const [days, setDays] = useState(account.deletionDays);
  // What was asked stands there once more where the site has changed it meanwhile.
  const leave = async () => {
    const answer = await askDeletion(ask, days);
    if ('failure' in answer && answer.failure.code === DAYS_CHANGED) {
      const opened = await openAccount();
      if ('value' in opened) setDays(opened.value.deletionDays);
    }
    return answer;
  };
  return (
    <section className="my-part" aria-labelledby="deletion">
      <h2 id="deletion" ref={opener} tabIndex={-1} className="my-head">
        {text.deletionTitle}
      </h2>
      <Note failure={failure} done={null} />
      {isAsking ? (
        <div role="group" aria-labelledby="deletion-question" className="my-part">
          <h3 id="deletion-question" className="my-head">
            {text.deletionQuestion}
          </h3>
          <p>{text.deletionGoes({ site: account.site.name })}</p>
          <p>{days === 0 ? text.deletionAtOnce : text.deletionWaits({ n: days, email: account.email })}</p>
          <div className="my-actions">
            <Button
              variant="danger"
              pending={isSending}
              onPress={() => {
                act(leave, onLeft);
              }}
            >
              {text.deletionAction}
            </Button>
            <Button
              autoFocus
              onPress={() => {
                setIsAsking(false);
              }}
            >
              {text.keepAccount}
            </Button>
          </div>
        </div>
      ) : (
        <>
          <p>{text.deletionText}</p>
          <div>
            <Button
              onPress={() => {
                setIsAsking(true);
              }}
            >
              {text.deletionAction}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

/** Sends one thing at a time. */
function useSending(stepUp: StepUp) {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const act = <Value,>(send: () => Promise<Answer<Value>>, take: (value: Value) => void) => {
    if (isSending) return;
    setIsSending(true);
    setFailure(null);
    void stepUp.run(send).then((answer) => {
      setIsSending(false);
      if (answer === null) return;
      if ('failure' in answer) setFailure(answer.failure);
      else take(answer.value);
    });
  };
  return { failure, isSending, act };
}
