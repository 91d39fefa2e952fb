import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { LoadingState } from '@stoa/ui/States';
import { loadOtherTexts, type AllTexts } from '../text/later.ts';
import { useFetchedTexts } from './fetchedTexts.ts';
import { FailurePage } from './FailurePage.tsx';
import { useText } from './text.ts';

const AllTextsContext = createContext<AllTexts | null>(null);

/** Every text, for pages inside of [`WithLaterTexts`]. */
export function useAllTexts(): AllTexts {
  const texts = useContext(AllTextsContext);
  if (!texts) throw new Error('no later texts above');
  return texts;
}

const OFFLINE = { why: 'offline', code: '', message: '', requestId: null, clientId: null, problems: [] } as const;

/** Shows a page once its texts are there. Those of another language take their place when they are. */
export function WithLaterTexts({ language, children }: { language: string; children: ReactNode }) {
  const text = useText();
  const [later] = useFetchedTexts(loadOtherTexts, language);
  const all = useMemo(() => (later === null || later === 'failed' ? null : { ...text, ...later }), [text, later]);
  if (later === 'failed')
    return (
      <FailurePage
        failure={OFFLINE}
        start={{ kind: 'SIGN_IN' }}
        onRetry={() => {
          location.reload();
        }}
      />
    );
  if (all === null) return <LoadingState level={1} label={text.loading} />;
  return <AllTextsContext value={all}>{children}</AllTextsContext>;
}
