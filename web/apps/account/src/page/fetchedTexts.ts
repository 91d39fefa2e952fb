/** Texts that are fetched where they are needed. */
import { useEffect, useState, useSyncExternalStore } from 'react';

/** The texts of a language, null until they are there; those of another take their place when they are. And what tries again. */
export function useFetchedTexts<Texts>(load: (language: string) => Promise<Texts>, language: string) {
  const [texts, setTexts] = useState<Texts | 'failed' | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isOver = false;
    load(language).then(
      (it) => {
        if (!isOver) setTexts(it);
      },
      () => {
        if (!isOver) setTexts((old) => old ?? 'failed');
      },
    );
    return () => {
      isOver = true;
    };
  }, [load, language, tries]);
  const again = () => {
    setTexts(null);
    setTries((old) => old + 1);
  };
  return [texts, again] as const;
}

/** The language that the page has now. */
export const usePageLanguage = (): string => useSyncExternalStore(watchLanguage, pageLanguage);

export const pageLanguage = (): string => document.documentElement.lang;

function watchLanguage(changed: () => void) {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['lang'] });
  return () => {
    observer.disconnect();
  };
}
