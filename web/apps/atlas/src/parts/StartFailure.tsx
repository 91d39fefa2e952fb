import { Button, ErrorState } from '@stoa/ui';

import { useText } from '../text/useText.ts';

/** The server did not even give the settings, so there is no site yet. */
export function StartFailure({ onRetry }: { readonly onRetry: () => void }) {
  const { t } = useText();
  return (
    <main className="page-width">
      <ErrorState title={t.states.startTitle} level={1} action={<Button onPress={onRetry}>{t.states.retry}</Button>}>
        {t.states.network}
      </ErrorState>
    </main>
  );
}
