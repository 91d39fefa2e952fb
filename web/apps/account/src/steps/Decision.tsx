import { Suspense, lazy } from 'react';
import { LoadingState } from '@stoa/ui/States';
import { usePageLanguage } from '../page/fetchedTexts.ts';
import { useText } from '../page/text.ts';
import { ConfirmSignOut } from './ConfirmSignOut.tsx';
import type { StepProps } from './step.ts';

/** Asked of members for whom applications of others wait: few sites have such. */
const Consent = lazy(() => import('./Consent.tsx').then((it) => ({ default: it.Consent })));

/** What is done only when the person says so. */
export function Decision({ step, ...rest }: StepProps<'CONSENT' | 'CONFIRM_SIGN_OUT'>) {
  const text = useText();
  const language = usePageLanguage();
  if (step.type === 'CONFIRM_SIGN_OUT') return <ConfirmSignOut {...rest} step={step} />;
  return (
    <Suspense fallback={<LoadingState level={1} label={text.loading} />}>
      <Consent {...rest} step={step} language={language} />
    </Suspense>
  );
}
