import { useEffect, useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { endApplication, readApplications, type Application, type Ask } from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { writtenDate } from '../page/dates.ts';
import { scopeText } from '../page/scopes.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Note } from './Frame.tsx';
import { Part } from './Part.tsx';
import { useLoaded } from './useLoaded.ts';

/** The applications of others in which the member is signed on. */
export function ApplicationPart({ ask, language }: { ask: Ask; language: string }) {
  const text = useAllTexts();
  const loaded = useLoaded(ask, readApplications);
  const head = useRef<HTMLHeadingElement>(null);
  /** The one that the member is asked about. */
  const [asked, setAsked] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [isEnded, setIsEnded] = useState(false);
  const wasAsked = useRef(asked);
  // The button that closed the question went with it.
  useEffect(() => {
    if (wasAsked.current !== null && asked === null) head.current?.focus();
    wasAsked.current = asked;
  }, [asked]);
  const end = (id: string) => {
    if (isSending) return;
    setIsSending(true);
    void endApplication(ask, id).then((answer) => {
      setIsSending(false);
      // One in which the member is signed on no more is as gone as it was to be.
      const isDone = 'value' in answer || answer.failure.code === 'NOT_FOUND';
      setFailure(isDone || !('failure' in answer) ? null : answer.failure);
      setIsEnded(isDone);
      if (!isDone) return;
      setAsked(null);
      loaded.reload();
    });
  };
  return (
    <section className="my-part" aria-labelledby="applications">
      <h2 id="applications" ref={head} tabIndex={-1} className="my-head">
        {text.appsTitle}
      </h2>
      <Part loaded={loaded}>
        {(applications) => (
          <>
            <Note failure={failure} done={isEnded ? { text: text.appEnded } : null} />
            <p className="step-quiet">{applications.length === 0 ? text.appsNone : text.appsText}</p>
            {applications.length > 0 && (
              <ul className="my-list">
                {applications.map((it) => (
                  <li key={it.id}>
                    <Shown application={it} language={language} />
                    {asked === it.id ? (
                      <div role="group" aria-label={text.appEndTitle({ name: it.name })} className="my-part">
                        <p>{text.appEndText}</p>
                        <div className="my-actions">
                          <Button
                            variant="danger"
                            pending={isSending}
                            onPress={() => {
                              end(it.id);
                            }}
                          >
                            {text.appEnd}
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
                    ) : (
                      <Button
                        aria-label={text.appEndTitle({ name: it.name })}
                        onPress={() => {
                          setIsEnded(false);
                          setFailure(null);
                          setAsked(it.id);
                        }}
                      >
                        {text.appEnd}
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </Part>
    </section>
  );
}

function Shown({ application, language }: { application: Application; language: string }) {
  const text = useAllTexts();
  const { name, home, scopes, createdDate, lastUsedDate } = application;
  return (
    <div>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      {home !== undefined && (
        <span className="step-quiet">
          <bdi dir="ltr">{home}</bdi>
        </span>
      )}
      <span>{text.appMay}</span>
      <ul>
        {scopes === undefined && <li>{text.appMayAll}</li>}
        {/* Sign-on alone. */}
        {scopes?.length === 0 && <li>{text.appMayKnow}</li>}
        {scopes?.map((scope) => (
          <li key={scope}>{scopeText(text, scope)}</li>
        ))}
      </ul>
      <span className="step-quiet">{text.sessionBegan({ date: writtenDate(createdDate, language) })}</span>
      <span className="step-quiet">{text.lastUsed({ date: writtenDate(lastUsedDate, language) })}</span>
    </div>
  );
}
