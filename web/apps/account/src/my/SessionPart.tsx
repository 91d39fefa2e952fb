import { useEffect, useState } from 'react';
import { endSession, readSessions, type Ask, type MemberSession } from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { writtenDate } from '../page/dates.ts';
import { TITLE_ID } from '../page/StepHead.tsx';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Note } from './Frame.tsx';
import { Part } from './Part.tsx';
import { SessionList } from './SessionList.tsx';
import { useLoaded } from './useLoaded.ts';

/** Where the member is signed in. */
export function SessionPart({ ask, language }: { ask: Ask; language: string }) {
  const text = useAllTexts();
  const loaded = useLoaded(ask, readSessions);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [hasEnded, setHasEnded] = useState(false);
  // The button that ended it went with it.
  useEffect(() => {
    if (hasEnded && document.activeElement === document.body) document.getElementById(TITLE_ID)?.focus();
  }, [hasEnded, loaded.answer]);
  const lines = (it: MemberSession) => [
    text.sessionBegan({ date: writtenDate(it.createdDate, language) }),
    ...(it.address === undefined ? [] : [text.sessionFrom({ address: it.address })]),
    ...(it.clientNames.length === 0 ? [] : [text.sessionApps({ apps: it.clientNames.join(', ') })]),
    text.lastUsed({ date: writtenDate(it.lastUsedDate, language) }),
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
          <SessionList
            sessions={sessions.map((it) => ({ ...it, device: it.device, lines: lines(it) }))}
            hasEnded={hasEnded}
            onEnd={end}
          />
        </div>
      )}
    </Part>
  );
}
