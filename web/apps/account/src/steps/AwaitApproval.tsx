import { Callout } from '@stoa/ui/Callout';
import { useLook } from '../flow/useLook.ts';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { siteName, type StepProps } from './step.ts';

const LOOK_EVERY_MS = 10_000;

/** Goes on by itself once the owner has said yes. */
export function AwaitApproval({ view, step, flow }: StepProps<'AWAIT_APPROVAL'>) {
  const text = useText();
  useLook(flow.look, LOOK_EVERY_MS);
  const site = siteName(view, text);
  return (
    <>
      <StepHead title={text.approvalTitle} site={site}>
        {text.approvalText(site)}
      </StepHead>
      <Callout tone="good">{text.approvalMail(step.emailHint)}</Callout>
    </>
  );
}
