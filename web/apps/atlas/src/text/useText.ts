import { createContext, useContext } from 'react';

import type { Speech } from './speech.ts';

export interface Spoken extends Speech {
  setLanguage(language: string): void;
}

export const SpeechContext = createContext<Spoken | null>(null);

/** The language of the page. */
export function useText(): Spoken {
  const spoken = useContext(SpeechContext);
  if (spoken === null) throw new Error('useText stands outside of the site.');
  return spoken;
}
