/** What a part of the page begins with: asked when it is opened. */
import { useCallback, useEffect, useState } from 'react';
import type { Answer } from '../api/request.ts';

export interface Loaded<Value> {
  /** Absent until the server answered. */
  answer: Answer<Value> | null;
  /** Puts what another call brought in its place. */
  put: (value: Value) => void;
  reload: () => void;
}

/** @param from what `read` asks by; another one is asked once more */
export function useLoaded<Value, From>(from: From, read: (from: From) => Promise<Answer<Value>>): Loaded<Value> {
  const [answer, setAnswer] = useState<Answer<Value> | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    void read(from).then((it) => {
      if (!isOver) setAnswer(it);
    });
    return () => {
      isOver = true;
    };
  }, [from, read, round]);
  const put = useCallback((value: Value) => {
    setAnswer({ value });
  }, []);
  const reload = useCallback(() => {
    setRound((it) => it + 1);
  }, []);
  return { answer, put, reload };
}
