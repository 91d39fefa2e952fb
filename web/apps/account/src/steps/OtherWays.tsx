import { PasskeySignIn } from './PasskeySignIn.tsx';
import { ProviderButtons } from './ProviderButtons.tsx';
import type { StepProps } from './step.ts';

/** Signing in without a password: by a passkey, or by an identity provider of the site. */
export function OtherWays({ view, step, flow }: StepProps<'SIGN_IN'>) {
  return (
    <>
      {step.passkey && <PasskeySignIn view={view} flow={flow} challenge={step.passkey} />}
      <ProviderButtons providers={step.providers} flow={flow} />
    </>
  );
}
