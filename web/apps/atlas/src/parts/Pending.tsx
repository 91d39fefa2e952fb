import { LoadingState } from '@stoa/ui';

import { useText } from '../text/useText.ts';

export function Pending() {
  const { t } = useText();
  return <LoadingState label={t.states.loading} />;
}
