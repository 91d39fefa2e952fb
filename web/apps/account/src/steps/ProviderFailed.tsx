import { Button } from '@stoa/ui/Button';
import { ProblemSummary } from '@stoa/ui/Form';
import { LoadingState } from '@stoa/ui/States';
import { MessagePage } from '../page/FailurePage.tsx';
import { useText } from '../page/text.ts';
import { WithProviderTexts } from '../page/WithProviderTexts.tsx';
import { problemsFor, siteName, type StepProps } from './step.ts';

/** A provider signed the person in to nothing here: why, and the ways on. */
export function ProviderFailed({ view, step, flow }: StepProps<'PROVIDER_FAILED'>) {
  const text = useText();
  const { id, label: provider } = step.provider;
  const { summary } = problemsFor(view, text, [], {});
  return (
    <WithProviderTexts waiting={<LoadingState level={1} label={text.loading} />}>
      {(texts) => (
        <MessagePage
          title={texts.failedTitle({ provider })}
          site={siteName(view, text)}
          action={
            <div className="step-stack">
              <Button
                variant="primary"
                pending={flow.sending === 'BACK'}
                onPress={() => {
                  flow.send({ type: 'BACK' });
                }}
              >
                {text.backToSignIn}
              </Button>
              {step.reason !== 'NO_ACCOUNT' && (
                <Button
                  pending={flow.sending === 'PROVIDER'}
                  onPress={() => {
                    flow.send({ type: 'PROVIDER', id });
                  }}
                >
                  {texts.again({ provider })}
                </Button>
              )}
            </div>
          }
        >
          <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
          <p>{texts.failed[step.reason]({ provider })}</p>
        </MessagePage>
      )}
    </WithProviderTexts>
  );
}
