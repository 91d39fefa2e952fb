import { useEffect, useRef, type FormEvent, type ReactNode } from 'react';
import { names } from './names.ts';
import './Form.css';

export interface FormProps {
  children: ReactNode;
  onSubmit: () => void;
  /** id of the heading that names the form. */
  labelledBy?: string;
  className?: string;
}

/** A form whose errors come from outside: the browser's own bubbles stay away, Enter submits. */
export function Form({ children, onSubmit, labelledBy, className }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form
      className={names('stoa-form', className)}
      onSubmit={submit}
      noValidate
      {...(labelledBy === undefined ? {} : { 'aria-labelledby': labelledBy })}
    >
      {children}
    </form>
  );
}

/** Stands at the end of a form: what can be done with it. */
export function FormActions({ children }: { children: ReactNode }) {
  return <div className="stoa-form-actions">{children}</div>;
}

export interface SummaryProblem {
  /** Stable within one summary. */
  key: string;
  text: ReactNode;
  /** Moves the focus to the field that is meant; absent when the whole form is. */
  onGo?: () => void;
}

export interface ProblemSummaryProps {
  title: ReactNode;
  problems: readonly SummaryProblem[];
  /** Changes with every answer, so that an answer equal to the last one is announced again. */
  round?: number;
}

/** What is wrong with the whole form, above it; a single sentence stands without the title. Takes the focus when it appears. */
export function ProblemSummary({ title, problems, round = 0 }: ProblemSummaryProps) {
  const box = useRef<HTMLDivElement>(null);
  const present = problems.length > 0;
  useEffect(() => {
    if (!present) return;
    const frame = requestAnimationFrame(() => {
      box.current?.focus();
    });
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [present, round]);
  if (!present) return null;
  return (
    <div ref={box} className="stoa-problems" role="alert" tabIndex={-1}>
      <p className={problems.length > 1 ? 'stoa-problems-title' : 'stoa-hidden'}>{title}</p>
      <ul className="stoa-problems-list">
        {problems.map(({ key, text, onGo }) => (
          <li key={key}>
            {onGo ? (
              <button type="button" className="stoa-problems-go" onClick={onGo}>
                {text}
              </button>
            ) : (
              text
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
