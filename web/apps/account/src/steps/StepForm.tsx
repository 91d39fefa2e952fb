import { useState, type ReactNode } from 'react';
import type { FlowView } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions, ProblemSummary } from '@stoa/ui/Form';
import type { Flow } from '../flow/useFlow.ts';
import { useText } from '../page/text.ts';
import { focusFirstProblem, problemsFor, type LocalProblems } from './step.ts';

const NONE: LocalProblems = {};

export interface StepFormProps {
  view: FlowView;
  flow: Flow;
  submit: ReactNode;
  /** Names of the inputs on this page, as the server names them. */
  fields: readonly string[];
  /** Checked before sending: what the server would refuse anyway. */
  check?: () => LocalProblems;
  onSubmit: () => void;
  passwordMinLength?: number;
  children: (errorAt: (field: string) => string | undefined) => ReactNode;
}

/** The form of a step: its problems, its fields, its one button, and nothing sent twice. */
export function StepForm({ view, flow, submit, fields, check, onSubmit, passwordMinLength, children }: StepFormProps) {
  const text = useText();
  const [local, setLocal] = useState(NONE);
  const { at, summary } = problemsFor(view, text, fields, local, passwordMinLength);
  const send = () => {
    if (flow.sending !== null) return;
    const found = check?.() ?? NONE;
    setLocal(found);
    if (Object.keys(found).length > 0) focusFirstProblem();
    else onSubmit();
  };
  return (
    <Form onSubmit={send}>
      <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
      {children(at)}
      <FormActions>
        <Button
          type="submit"
          variant="primary"
          wide
          pending={
            flow.sending !== null &&
            flow.sending !== 'RESEND' &&
            flow.sending !== 'SWITCH' &&
            flow.sending !== 'BACK' &&
            flow.sending !== 'LATER' &&
            flow.sending !== 'CANCEL'
          }
        >
          {submit}
        </Button>
      </FormActions>
    </Form>
  );
}
