import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from '@stoa/ui/Button';
import type { Answer, Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Note } from './Frame.tsx';

export interface EntryListProps<Entry> {
  id: string;
  title: string;
  help?: string;
  /** Said where there is none. */
  none: string;
  add: string;
  entries: readonly Entry[];
  /** On how many lines an entry is shown. */
  lines: (entry: Entry) => readonly string[];
  /** Whether an entry has a form; each has one where this is absent. */
  isEditable?: (entry: Entry) => boolean;
  /** Whether a line is left to right in every language. */
  ltr?: boolean;
  remove: (entry: Entry) => Promise<Answer<unknown>>;
  /** The fields of an entry, or with null of one that is added. */
  form: (entry: Entry | null, close: (isSaved: boolean) => void) => ReactNode;
}

/** A list to which a member adds, one entry at a time. */
export function EntryList<Entry>(props: EntryListProps<Entry>) {
  const { id, title, help, none, add, entries, lines, ltr = false, isEditable = () => true, remove, form } = props;
  const text = useAllTexts();
  /** The entry that is edited; null for a new one. */
  const [edited, setEdited] = useState<{ entry: Entry | null } | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [round, setRound] = useState(0);
  const head = useRef<HTMLHeadingElement>(null);
  // The button that was pressed went with what it closed or removed.
  useEffect(() => {
    if (round > 0) head.current?.focus();
  }, [round]);
  const close = (isSaved: boolean) => {
    setEdited(null);
    setDone(isSaved ? text.saved : null);
    setFailure(null);
    setRound((it) => it + 1);
  };
  const drop = (entry: Entry) => {
    if (isSending) return;
    setIsSending(true);
    void remove(entry).then((answer) => {
      setIsSending(false);
      const isGone = 'value' in answer;
      setFailure(isGone ? null : answer.failure);
      setDone(isGone ? text.factorRemoved : null);
      if (isGone) setRound((it) => it + 1);
    });
  };
  return (
    <section className="my-part" aria-labelledby={id}>
      <h2 id={id} ref={head} tabIndex={-1} className="my-head">
        {title}
      </h2>
      <Note failure={failure} done={done === null ? null : { text: done }} />
      {help !== undefined && <p className="step-quiet">{help}</p>}
      {edited !== null && form(edited.entry, close)}
      {edited === null && entries.length === 0 && <p className="step-quiet">{none}</p>}
      {edited === null && entries.length > 0 && (
        <ul className="my-list">
          {entries.map((entry, idx) => {
            const written = lines(entry);
            // Of what an application wrote nothing may be known here.
            const shown = written.length > 0 ? written : [title];
            return (
              // Two entries may be alike, and none has more than its place.
              <li key={idx}>
                <div>
                  {shown.map((line, at) => (
                    <span key={at}>
                      <bdi {...(ltr ? { dir: 'ltr' } : {})}>{line}</bdi>
                    </span>
                  ))}
                </div>
                <div className="my-actions">
                  {isEditable(entry) && (
                    <Button
                      aria-label={`${text.editEntry}: ${shown.join(', ')}`}
                      onPress={() => {
                        setDone(null);
                        setEdited({ entry });
                      }}
                    >
                      {text.editEntry}
                    </Button>
                  )}
                  <Button
                    aria-label={`${text.remove}: ${shown.join(', ')}`}
                    onPress={() => {
                      drop(entry);
                    }}
                  >
                    {text.remove}
                  </Button>
                </div>
              </li>
            );
          })}
        </ul>
      )}
      {edited === null && (
        <div className="my-actions">
          <Button
            pending={isSending}
            onPress={() => {
              setDone(null);
              setEdited({ entry: null });
            }}
          >
            {add}
          </Button>
        </div>
      )}
    </section>
  );
}
