import type { ReactNode } from 'react';
import { Spinner } from './Spinner.tsx';
import './States.css';

export interface StateProps {
  title: ReactNode;
  /** What would be here, or what happened and whether anything is lost. */
  children?: ReactNode;
  /** The first step out of here. */
  action?: ReactNode;
  /** Heading level that fits the page. */
  level?: 1 | 2 | 3;
}

/** Nothing here yet: says what would be here and offers the first step. */
export function EmptyState(props: StateProps) {
  return <State {...props} kind="empty" />;
}

/** It went wrong: says what, in plain words, and offers a way on. Announced at once. */
export function ErrorState(props: StateProps) {
  return <State {...props} kind="error" />;
}

/** Something is on its way. With a level the label is the page's heading for as long as there is no other. */
export function LoadingState({ label, level }: { label: string; level?: 1 | 2 | 3 }) {
  const Label = level === undefined ? 'p' : (`h${level}` as const);
  return (
    <div className="stoa-state" data-kind="loading">
      <Spinner size="large" label={label} />
      <Label className="stoa-state-wait">{label}</Label>
    </div>
  );
}

function State({ title, children, action, level = 2, kind }: StateProps & { kind: 'empty' | 'error' }) {
  const Heading = `h${level}` as const;
  return (
    <div className="stoa-state" data-kind={kind} role={kind === 'error' ? 'alert' : undefined}>
      <svg viewBox="0 0 48 48" aria-hidden="true" className="stoa-state-sign">
        <path d="M13 7h22M17 12h14M17 36h14M13 41h22" />
        {kind === 'empty' ? (
          <path d="M20 16v2M20 23v2M20 30v2M28 16v2M28 23v2M28 30v2" />
        ) : (
          <>
            <path d="M20 12v24M28 12v24" />
            <path className="stoa-state-crack" d="M20 22l3 3 2-3.5 3 3.5" />
          </>
        )}
      </svg>
      <Heading className="stoa-state-title">{title}</Heading>
      {children != null && <div className="stoa-state-text">{children}</div>}
      {action != null && <div className="stoa-state-action">{action}</div>}
    </div>
  );
}
