import type { ReactNode } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions, ProblemSummary } from '@stoa/ui/Form';
import { useText } from '../page/text.ts';
import type { PasskeyTexts } from '../page/WithPasskeyTexts.tsx';
import { createPasskey, getPasskey, hasPasskeys } from '../parts/passkey.ts';
import { PromptNote } from '../parts/PromptNote.tsx';
import { refusal, useStepPrompt, type PasskeyStep, type ToInput } from './passkeyPrompt.ts';
import { problemsFor } from './step.ts';

export interface PasskeyFormProps extends PasskeyStep {
  texts: PasskeyTexts;
  submit: string;
  /** Whether one is made, instead of asked for. */
  makes?: boolean;
  toInput: ToInput;
  children?: ReactNode;
}

/** The form of a step that a passkey answers: its problems, and the button that opens the browser's prompt. */
export function PasskeyForm({ texts, submit, makes = false, toInput, children, ...step }: PasskeyFormProps) {
  const { view, flow } = step;
  const text = useText();
  const { prompt, open, isRefused } = useStepPrompt(step, toInput);
  const { summary } = problemsFor(view, text, ['code', 'passkey'], {});
  const isSending = flow.sending === 'PASSKEY' || flow.sending === 'CONFIRM_PASSKEY';
  return (
    <Form
      onSubmit={() => {
        open(makes ? createPasskey : getPasskey);
      }}
    >
      <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
      <PromptNote prompt={prompt} texts={texts} wrong={refusal(isRefused, texts, makes)} />
      {children}
      <FormActions>
        <Button
          type="submit"
          variant="primary"
          wide
          pending={prompt.isOpen || isSending}
          disabledReason={hasPasskeys() ? undefined : texts.why.unsupported}
        >
          {submit}
        </Button>
      </FormActions>
    </Form>
  );
}
