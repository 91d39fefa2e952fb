/** The catalogue in use, for every part of the page. */
import { createContext, useContext } from 'react';
import type { Catalogue } from '../text/languages.ts';

const TextContext = createContext<Catalogue | null>(null);
export const TextProvider = TextContext.Provider;

export function useText(): Catalogue {
  const text = useContext(TextContext);
  if (!text) throw new Error('no catalogue above');
  return text;
}
