import { useCallback, useEffect, useState } from 'react';
import { Callout } from '@stoa/ui/Callout';
import { endSession, readSessions, type Ask, type MemberSession } from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { writtenDate } from '../page/dates.ts';
import { TITLE_ID } from '../page/StepHead.tsx';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { placeName } from './countries.ts';
import { Note } from './Frame.tsx';
import { Part } from './Part.tsx';
import { SessionList } from './SessionList.tsx';
import { useLoaded } from './useLoaded.ts';

/** Where the member is signed in. */
export function SessionPart({ ask, language }: { ask: Ask; language: string }) {
  const text = useAllTexts();
  const loaded = useLoaded(
    ask,
    useCallback((as: Ask) => readSessions(as, language), [language]),
  );
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [hasEnded, setHasEnded] = useState(false);
  // The button that ended it went with it.
  useEffect(() => {
    if (hasEnded && document.activeElement === document.body) document.getElementById(TITLE_ID)?.focus();
  }, [hasEnded, loaded.answer]);
  const owners = (it: MemberSession) => it.impersonation !== undefined;
  const lines = (it: MemberSession) => [
    text.sessionBegan({ date: writtenDate(it.createdDate, language) }),
    ...(it.address === undefined ? [] : [text.sessionFrom({ address: it.address })]),
    ...(it.place === undefined ? [] : [text.sessionPlace({ place: placeName(it.place, language) })]),
    ...(it.clientNames.length === 0 ? [] : [text.sessionApps({ apps: it.clientNames.join(', ') })]),
    it.impersonation === undefined
      ? text.lastUsed({ date: writtenDate(it.lastUsedDate, language) })
      : text.ownerUntil({ date: writtenDate(it.impersonation.expiresDate, language) }),
  ];
  const end = (id: string | null) => {
    if (isSending) return;
    setIsSending(true);
    void endSession(ask, id).then((answer) => {
      setIsSending(false);
      // One that has ended meanwhile is as gone as it was to be.
      const isDone = 'value' in answer || answer.failure.code === 'NOT_FOUND';
      setFailure(isDone || !('failure' in answer) ? null : answer.failure);
      setHasEnded(isDone);
      if (isDone) loaded.reload();
    });
  };
  return (
    <Part loaded={loaded}>
      {(sessions) => (
        <div className="my-part">
          <Note failure={failure} done={null} />
          {sessions.some(owners) && (
            <Callout tone="warn">
              <p>{sessions.some((it) => it.impersonation?.access === 'WRITE') ? text.ownerWrites : text.ownerReads}</p>
            </Callout>
          )}
          <SessionList
            sessions={sessions.map((it) => ({
              ...it,
              device: owners(it) ? text.ownerAsMember : it.device,
              endText: owners(it) ? text.endOwner : undefined,
              lines: lines(it),
            }))}
            hasEnded={hasEnded}
            onEnd={end}
          />
        </div>
      )}
    </Part>
  );
}
