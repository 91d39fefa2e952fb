import type { ReactNode } from 'react';
import { loadPasskeyTexts, type PasskeyTexts } from '../text/passkey.ts';
import { useFetchedTexts, usePageLanguage } from './fetchedTexts.ts';
import { Obstacle } from './Obstacle.tsx';
import { useText } from './text.ts';

export type { PasskeyTexts };

export interface WithPasskeyTextsProps {
  /** Stands there until the texts do. */
  waiting: ReactNode;
  children: (texts: PasskeyTexts) => ReactNode;
}

/** What has to do with passkeys, once its texts are there. */
export function WithPasskeyTexts({ waiting, children }: WithPasskeyTextsProps) {
  const text = useText();
  const [texts, again] = useFetchedTexts(loadPasskeyTexts, usePageLanguage());
  if (texts === 'failed') return <Obstacle why={text.offlineText} onAgain={again} />;
  return texts === null ? waiting : children(texts);
}
