import { Suspense, lazy, useRef, useState, type ReactNode } from 'react';
import type { FlowInput, FlowView } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions, ProblemSummary } from '@stoa/ui/Form';
import type { Widget } from '../api/captcha.ts';
import type { Flow } from '../flow/useFlow.ts';
import { useText } from '../page/text.ts';
import { focusFirstProblem, problemsFor, type LocalProblems } from './step.ts';
import type { WidgetHandle } from './WidgetPart.tsx';

/** Few sites have one. */
const WidgetPart = lazy(() => import('./WidgetPart.tsx').then((it) => ({ default: it.WidgetPart })));

const NONE: LocalProblems = {};

/** What is sent by other buttons than that of the form. */
const ASIDE: readonly FlowInput['type'][] = ['RESEND', 'SWITCH', 'BACK', 'LATER', 'CANCEL', 'PASSKEY', 'PROVIDER'];

export interface StepFormProps {
  view: FlowView;
  flow: Flow;
  submit: ReactNode;
  /** Names of the inputs on this page, as the server names them. */
  fields: readonly string[];
  /** Checked before sending: what the server would refuse anyway. */
  check?: () => LocalProblems;
  /** `captcha`: what the widget of the site's provider gave; null where none stands there. */
  onSubmit: (captcha: string | null) => void;
  passwordMinLength?: number;
  children: (errorAt: (field: string) => string | undefined) => ReactNode;
}

/** The form of a step: its problems, its fields, its one button, and nothing sent twice. */
export function StepForm({ view, flow, submit, fields, check, onSubmit, passwordMinLength, children }: StepFormProps) {
  const text = useText();
  const [local, setLocal] = useState(NONE);
  const { at, summary } = problemsFor(view, text, fields, local, passwordMinLength);
  const widget = useRef<WidgetHandle>(null);
  /** An answer that was given while a field was wrong. */
  const kept = useRef<{ of: Widget; token: string } | null>(null);
  /** Whether it was sent. */
  const send = (answer: string | null): boolean => {
    if (flow.sending !== null) return false;
    const captcha = answer ?? (kept.current !== null && kept.current.of === flow.widget ? kept.current.token : null);
    kept.current = null;
    const found = check?.() ?? NONE;
    setLocal(found);
    if (Object.keys(found).length > 0) {
      if (flow.widget !== null && captcha !== null) kept.current = { of: flow.widget, token: captcha };
      focusFirstProblem();
      return false;
    }
    if (flow.widget !== null && captcha === null) {
      widget.current?.insist();
      return false;
    }
    onSubmit(captcha);
    return true;
  };
  return (
    <Form
      onSubmit={() => {
        send(null);
      }}
    >
      <ProblemSummary title={text.problemsTitle} problems={summary} round={flow.round} />
      {children(at)}
      {flow.widget && (
        <Suspense fallback={<p role="status">{text.loading}</p>}>
          <WidgetPart
            ref={widget}
            widget={flow.widget}
            onAnswer={send}
            onExpired={() => {
              kept.current = null;
            }}
          />
        </Suspense>
      )}
      <FormActions>
        <Button type="submit" variant="primary" wide pending={flow.sending !== null && !ASIDE.includes(flow.sending)}>
          {submit}
        </Button>
      </FormActions>
    </Form>
  );
}
