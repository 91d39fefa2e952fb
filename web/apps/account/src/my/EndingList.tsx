import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from '@stoa/ui/Button';
import type { Answer, Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Note } from './Frame.tsx';
import { Part } from './Part.tsx';
import type { Loaded } from './useLoaded.ts';

/** The words about one entry. */
export interface EndingWords {
  action: string;
  /** Names the entry. */
  question: string;
  text: string;
}

export interface EndingListProps<Entry extends { id: string }> {
  id: string;
  title: string;
  /** What the entries do. */
  help: string;
  /** Said where there is none. */
  none: string;
  loaded: Loaded<Entry[]>;
  shown: (entry: Entry) => ReactNode;
  words: (entry: Entry) => EndingWords;
  /** Ends one; null where the member did not show who they are. */
  end: (id: string) => Promise<Answer<object> | null>;
  /** Said once it has ended. */
  ended: string;
  onEnded?: () => void;
  /** Another sentence for a refusal than that of its code. */
  refusal?: (failure: Failure) => string | null;
}

/** What acts for the member or signs them in, each of which they can end after a question. */
export function EndingList<Entry extends { id: string }>(props: EndingListProps<Entry>) {
  const { id: listId, title, help, none, loaded, shown, words, end, ended, onEnded, refusal } = props;
  const text = useAllTexts();
  const head = useRef<HTMLHeadingElement>(null);
  /** The one that the member is asked about. */
  const [asked, setAsked] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [isEnded, setIsEnded] = useState(false);
  const wasAsked = useRef(asked);
  const named = (why: Failure): Failure => {
    const sentence = refusal?.(why) ?? null;
    return sentence === null ? why : { ...why, code: '', message: sentence };
  };
  // The button that closed the question went with it.
  useEffect(() => {
    if (wasAsked.current !== null && asked === null) head.current?.focus();
    wasAsked.current = asked;
  }, [asked]);
  const send = (id: string) => {
    if (isSending) return;
    setIsSending(true);
    void end(id).then((answer) => {
      setIsSending(false);
      if (answer === null) return;
      // One that is there no more is as gone as it was to be.
      const isDone = 'value' in answer || answer.failure.code === 'NOT_FOUND';
      setFailure(isDone || !('failure' in answer) ? null : named(answer.failure));
      setIsEnded(isDone);
      if (!isDone) return;
      setAsked(null);
      loaded.reload();
      onEnded?.();
    });
  };
  return (
    <section className="my-part" aria-labelledby={listId}>
      <h2 id={listId} ref={head} tabIndex={-1} className="my-head">
        {title}
      </h2>
      <Part loaded={loaded}>
        {(entries) => (
          <>
            <Note failure={failure} done={isEnded ? { text: ended } : null} />
            <p className="step-quiet">{entries.length === 0 ? none : help}</p>
            {entries.length > 0 && (
              <ul className="my-list">
                {entries.map((it) => (
                  <li key={it.id}>
                    {shown(it)}
                    {asked === it.id ? question(it) : button(it)}
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </Part>
    </section>
  );

  function question(entry: Entry) {
    const said = words(entry);
    return (
      <div role="group" aria-label={said.question} className="my-part">
        <p>{said.text}</p>
        <div className="my-actions">
          <Button
            variant="danger"
            pending={isSending}
            onPress={() => {
              send(entry.id);
            }}
          >
            {said.action}
          </Button>
          <Button
            autoFocus
            onPress={() => {
              setAsked(null);
            }}
          >
            {text.keep}
          </Button>
        </div>
      </div>
    );
  }

  function button(entry: Entry) {
    const said = words(entry);
    return (
      <Button
        aria-label={said.question}
        onPress={() => {
          setIsEnded(false);
          setFailure(null);
          setAsked(entry.id);
        }}
      >
        {said.action}
      </Button>
    );
  }
}
