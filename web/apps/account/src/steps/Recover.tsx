import { Button } from '@stoa/ui/Button';
import { ProblemSummary } from '@stoa/ui/Form';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { EmailField, useEmail } from './EmailField.tsx';
import { missing, problemsFor, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';

export function RecoverRequest({ view, step, flow }: StepProps<'RECOVER_REQUEST'>) {
  const text = useText();
  const [email, setEmail] = useEmail(step.email);
  return (
    <>
      <StepHead title={text.recoverTitle} site={siteName(view, text)}>
        {text.recoverText}
      </StepHead>
      <StepForm
        view={view}
        flow={flow}
        submit={text.recover}
        fields={['email']}
        check={() => missing({ email })}
        onSubmit={() => {
          flow.send({ type: 'RECOVER_REQUEST', email: email.trim() });
        }}
      >
        {(errorAt) => <EmailField value={email} onChange={setEmail} error={errorAt('email')} />}
      </StepForm>
      {!view.canGoBack && (
        <div className="step-ways">
          <Button
            variant="link"
            onPress={() => {
              flow.send({ type: 'SWITCH', to: 'SIGN_IN', email: email.trim() || null });
            }}
          >
            {text.backToSignIn}
          </Button>
        </div>
      )}
    </>
  );
}

/** Says the same whether or not the address is known. */
export function RecoverSent({ view, step, flow }: StepProps<'RECOVER_SENT'>) {
  const text = useText();
  const { summary } = problemsFor(view, text, [], {});
  return (
    <>
      <StepHead title={text.recoverSentTitle} site={siteName(view, text)}>
        {text.recoverSentText({ where: step.emailHint })}
      </StepHead>
      <div className="step-stack">
        <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
        <Button
          wide
          onPress={() => {
            flow.send({ type: 'SWITCH', to: 'SIGN_IN', email: null });
          }}
        >
          {text.backToSignIn}
        </Button>
      </div>
      <div className="step-aside step-quiet">
        <span>{text.spamHint}</span>
        <Button
          variant="link"
          pending={flow.sending === 'RESEND'}
          onPress={() => {
            flow.send({ type: 'RESEND' });
          }}
        >
          {text.recoverAgain}
        </Button>
        <p role="status">
          {flow.answered === 'RESEND' && flow.failure === null && view.problems.length === 0 ? text.resentLink : ''}
        </p>
      </div>
    </>
  );
}
