import { Button } from '@stoa/ui/Button';
import { ProblemSummary } from '@stoa/ui/Form';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { problemsFor, siteName, type StepProps } from './step.ts';

export function ChooseFactor({ view, step, flow }: StepProps<'CHOOSE_FACTOR'>) {
  const text = useText();
  const { summary } = problemsFor(view, text, [], {});
  return (
    <>
      <StepHead title={text.chooseFactorTitle} site={siteName(view, text)}>
        {text.chooseFactorText}
      </StepHead>
      <div className="step-stack">
        <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
        <ul className="step-choices">
          {step.factors.map((it) => (
            <li key={it.id}>
              <Button
                wide
                onPress={() => {
                  flow.send({ type: 'CHOOSE_FACTOR', factorId: it.id });
                }}
              >
                <span>{text.factor[it.factor]}</span>
                {it.hint != null && (
                  <span className="step-quiet" dir="auto">
                    {it.hint}
                  </span>
                )}
              </Button>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
