import { Button } from '@stoa/ui/Button';
import { LoadingState } from '@stoa/ui/States';
import { usePolling } from '../flow/usePolling.ts';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { WithPushTexts } from '../page/WithPushTexts.tsx';
import { LOOK_MS, PushNumber } from '../parts/PushNumber.tsx';
import { siteName, type StepProps } from './step.ts';

/** Shows the number that is typed in the browser that is asked, and goes on by itself. */
export function AwaitPush({ view, step, flow }: StepProps<'AWAIT_PUSH'>) {
  const text = useText();
  usePolling(flow.poll, LOOK_MS);
  const site = siteName(view, text);
  return (
    <WithPushTexts waiting={<LoadingState level={1} label={text.loading} />}>
      {(texts) => (
        <>
          <StepHead title={texts.waitTitle} site={site}>
            {texts.waitText({ site })}
          </StepHead>
          <PushNumber number={step.number} texts={texts} />
          <div className="step-aside step-quiet">
            <Button
              variant="link"
              pending={flow.sending === 'BACK'}
              onPress={() => {
                flow.send({ type: 'BACK' });
              }}
            >
              {texts.another}
            </Button>
          </div>
        </>
      )}
    </WithPushTexts>
  );
}
