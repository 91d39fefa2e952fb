import type { ReactNode } from 'react';
import { Button } from '@stoa/ui/Button';
import { ErrorState, LoadingState } from '@stoa/ui/States';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { failureText } from './Frame.tsx';
import type { Loaded } from './useLoaded.ts';

/** What was loaded, or that it is on its way, or why it isn't there. */
export function Part<Value>({ loaded, children }: { loaded: Loaded<Value>; children: (value: Value) => ReactNode }) {
  const text = useAllTexts();
  if (loaded.answer === null) return <LoadingState label={text.loading} />;
  if ('value' in loaded.answer) return children(loaded.answer.value);
  const { failure } = loaded.answer;
  return (
    <ErrorState
      title={failure.why === 'offline' ? text.offlineTitle : text.brokenTitle}
      action={
        <Button variant="primary" onPress={loaded.reload}>
          {text.tryAgain}
        </Button>
      }
    >
      <p>{failureText(text, failure)}</p>
    </ErrorState>
  );
}
