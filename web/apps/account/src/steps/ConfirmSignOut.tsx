import { Button } from '@stoa/ui/Button';
import { ProblemSummary } from '@stoa/ui/Form';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { problemsFor, siteName, type StepProps } from './step.ts';

/** A link alone never ends a session: it takes this click. */
export function ConfirmSignOut({ view, step, flow }: StepProps<'CONFIRM_SIGN_OUT'>) {
  const text = useText();
  const site = siteName(view, text);
  const { summary } = problemsFor(view, text, [], {});
  return (
    <>
      <StepHead title={text.signOutTitle({ site })} site={site}>
        {step.displayName != null ? text.signedInAs({ name: step.displayName }) : text.signOutText}
      </StepHead>
      <div className="step-stack">
        <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
        <Button
          variant="primary"
          wide
          pending={flow.sending === 'CONFIRM_SIGN_OUT'}
          onPress={() => {
            flow.send({ type: 'CONFIRM_SIGN_OUT' });
          }}
        >
          {text.signOut}
        </Button>
        {view.cancelUrl != null && (
          <Button
            wide
            pending={flow.sending === 'CANCEL'}
            onPress={() => {
              flow.send({ type: 'CANCEL' });
            }}
          >
            {text.stay}
          </Button>
        )}
      </div>
    </>
  );
}
