import { useState } from 'react';
import { endConnection, readConnections, type Connection } from '../api/connection.ts';
import type { Ask } from '../api/member.ts';
import type { Answer, Failure } from '../api/request.ts';
import { writtenDate } from '../page/dates.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { EndingList } from './EndingList.tsx';
import { useLoaded } from './useLoaded.ts';
import type { StepUp } from './useStepUp.ts';

export interface ConnectionPartProps {
  ask: Ask;
  stepUp: StepUp;
  language: string;
  /** There is one less: what depends on it may be gone as well. */
  onChanged: () => void;
}

/** The accounts elsewhere by which the member signs in. Most have none, and see nothing of it. */
export function ConnectionPart({ ask, stepUp, language, onChanged }: ConnectionPartProps) {
  const text = useAllTexts();
  const texts = text.provider;
  const loaded = useLoaded(ask, readConnections);
  const [isChanged, setIsChanged] = useState(false);
  const { answer } = loaded;
  if (!isChanged && (answer === null || ('value' in answer && answer.value.length === 0))) return null;
  return (
    <EndingList
      id="connections"
      title={texts.title}
      help={texts.text}
      none={texts.none}
      loaded={loaded}
      shown={(it) => <Shown connection={it} language={language} />}
      words={({ label }) => ({
        action: texts.disconnect,
        question: texts.disconnectTitle({ provider: label }),
        text: texts.disconnectText,
      })}
      end={(id) => stepUp.run((): Promise<Answer<object>> => endConnection(ask, id))}
      ended={texts.disconnected}
      onEnded={() => {
        setIsChanged(true);
        onChanged();
      }}
      refusal={(failure: Failure) => (failure.code === 'LAST_WAY_IN' ? texts.lastWayIn : null)}
    />
  );
}

function Shown({ connection, language }: { connection: Connection; language: string }) {
  const text = useAllTexts();
  const { label, email, createdDate, lastUsedDate } = connection;
  return (
    <div>
      <strong>
        <bdi>{label}</bdi>
      </strong>
      {email !== undefined && (
        <span className="step-quiet">
          <bdi dir="ltr">{email}</bdi>
        </span>
      )}
      <span className="step-quiet">{text.provider.since({ date: writtenDate(createdDate, language) })}</span>
      {lastUsedDate !== undefined && (
        <span className="step-quiet">{text.lastUsed({ date: writtenDate(lastUsedDate, language) })}</span>
      )}
    </div>
  );
}
