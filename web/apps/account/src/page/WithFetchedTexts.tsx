import type { ReactNode } from 'react';
import { useFetchedTexts, usePageLanguage } from './fetchedTexts.ts';
import { Obstacle } from './Obstacle.tsx';
import { useText } from './text.ts';

export interface FetchedTextsProps<Texts> {
  /** Stands there until the texts do. */
  waiting: ReactNode;
  children: (texts: Texts) => ReactNode;
}

export interface WithFetchedTextsProps<Texts> extends FetchedTextsProps<Texts> {
  load: (language: string) => Promise<Texts>;
}

/** A part of a page, once its texts are there. */
export function WithFetchedTexts<Texts>({ load, waiting, children }: WithFetchedTextsProps<Texts>) {
  const text = useText();
  const [texts, again] = useFetchedTexts(load, usePageLanguage());
  if (texts === 'failed') return <Obstacle why={text.offlineText} onAgain={again} />;
  return texts === null ? waiting : children(texts);
}
