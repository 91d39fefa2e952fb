import { Callout } from '@stoa/ui/Callout';
import { usePolling } from '../flow/usePolling.ts';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { siteName, type StepProps } from './step.ts';

const POLL_INTERVAL_MS = 10_000;

/** Goes on by itself once the owner has approved. */
export function AwaitApproval({ view, step, flow }: StepProps<'AWAIT_APPROVAL'>) {
  const text = useText();
  usePolling(flow.poll, POLL_INTERVAL_MS);
  const site = siteName(view, text);
  return (
    <>
      <StepHead title={text.approvalTitle} site={site}>
        {text.approvalText({ site })}
      </StepHead>
      <Callout tone="good">{text.approvalMail({ where: step.emailHint })}</Callout>
    </>
  );
}
