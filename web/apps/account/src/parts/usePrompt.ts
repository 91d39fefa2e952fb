/** The prompt of the browser for a passkey, as a page shows it. */
import { useEffect, useRef, useState } from 'react';
import type { Outcome, Why } from './passkey.ts';

export interface Prompt {
  isOpen: boolean;
  /** Why the last one brought nothing. */
  why: Exclude<Why, 'ended'> | null;
  /** Opens it: what the passkey said, or null. It closes with the page that opened it. */
  open: (question: (signal: AbortSignal) => Promise<Outcome>) => Promise<string | null>;
  /** Something else is tried. */
  forget: () => void;
}

export function usePrompt(): Prompt {
  const [isOpen, setIsOpen] = useState(false);
  const [why, setWhy] = useState<Prompt['why']>(null);
  const ending = useRef<AbortController | null>(null);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
      ending.current?.abort();
    };
  }, []);
  const open: Prompt['open'] = async (question) => {
    // The page was left while what to ask was fetched.
    if (isGone.current) return null;
    const mine = new AbortController();
    ending.current = mine;
    setWhy(null);
    setIsOpen(true);
    const outcome = await question(mine.signal);
    if (mine.signal.aborted) return null;
    setIsOpen(false);
    if ('credential' in outcome) return outcome.credential;
    setWhy(outcome.why === 'ended' ? null : outcome.why);
    return null;
  };
  const forget = () => {
    setWhy(null);
  };
  return { isOpen, why, open, forget };
}
