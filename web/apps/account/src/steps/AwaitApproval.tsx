import { Callout } from '@stoa/ui/Callout';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { siteName, type StepProps } from './step.ts';

export function AwaitApproval({ view, step }: StepProps<'AWAIT_APPROVAL'>) {
  const text = useText();
  const site = siteName(view, text);
  return (
    <>
      <StepHead title={text.approvalTitle} site={site}>{text.approvalText(site)}</StepHead>
      <Callout tone="good">{text.approvalMail(step.emailHint)}</Callout>
    </>
  );
}
