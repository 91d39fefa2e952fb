import { Button } from '@stoa/ui/Button';
import { useAllTexts } from '../page/WithLaterTexts.tsx';

/** A place in which a person is signed in, as it is read. */
export interface ListedSession {
  id: string;
  /** The browser, where it is known. */
  device: string | null | undefined;
  /** Since when, from where, by what. */
  lines: readonly string[];
  isCurrent: boolean;
  /** What its button says, where it isn't a sign-in that ends. */
  endText?: string | undefined;
}

export interface SessionListProps {
  sessions: readonly ListedSession[];
  hasEnded: boolean;
  /** Ends one session, or with null all but the one that asks. */
  onEnd: (session: string | null) => void;
}

/** Where a person is signed in, and ending it there. */
export function SessionList({ sessions, hasEnded, onEnd }: SessionListProps) {
  const text = useAllTexts();
  const device = (it: ListedSession) => (!it.device || it.device === '?' ? text.unknownDevice : it.device);
  const others = sessions.filter((it) => !it.isCurrent);
  return (
    <>
      <p role="status" className="step-quiet">
        {hasEnded ? text.sessionEnded : ''}
      </p>
      <ul className="my-list">
        {sessions.map((it) => (
          <li key={it.id}>
            <div>
              <strong>{device(it)}</strong>
              {it.lines.map((line) => (
                <span key={line} className="step-quiet">
                  {line}
                </span>
              ))}
              {it.isCurrent && <span className="step-quiet">{text.sessionHere}</span>}
            </div>
            {!it.isCurrent && (
              <Button
                aria-label={`${it.endText ?? text.endSession}: ${device(it)}, ${it.lines[0] ?? ''}`}
                onPress={() => {
                  onEnd(it.id);
                }}
              >
                {it.endText ?? text.endSession}
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
    </>
  );
}
