import { Button } from '@stoa/ui/Button';
import { ProblemSummary } from '@stoa/ui/Form';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { problemsFor, siteName, type StepProps } from './step.ts';

export function Consent({ view, step, flow }: StepProps<'CONSENT'>) {
  const text = useText();
  const site = siteName(view, text);
  const { summary } = problemsFor(view, text, [], {});
  const scopes = step.scopes.map((it) => text.scope[it] ?? it);
  const answer = (allowed: boolean) => {
    flow.send({ type: 'CONSENT', allowed });
  };
  return (
    <>
      <StepHead title={text.consentTitle(step.clientName)} site={site}>
        {text.consentText(step.clientName, site)}
      </StepHead>
      <div className="step-stack">
        <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
        <ul className="step-list">
          {(scopes.length > 0 ? scopes : [text.consentNone]).map((it) => (
            <li key={it}>{it}</li>
          ))}
        </ul>
        <div className="step-stack">
          <Button
            variant="primary"
            wide
            pending={flow.sending === 'CONSENT'}
            onPress={() => {
              answer(true);
            }}
          >
            {text.allow}
          </Button>
          <Button
            wide
            onPress={() => {
              answer(false);
            }}
          >
            {text.deny}
          </Button>
        </div>
      </div>
    </>
  );
}
