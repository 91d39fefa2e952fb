import type { ReactNode } from 'react';
import './Callout.css';

export interface CalloutProps {
  tone?: 'neutral' | 'good' | 'warn' | 'bad';
  title?: ReactNode;
  children?: ReactNode;
  /** Announced when it appears: 'status' waits for a pause, 'alert' interrupts. Absent: not announced. */
  announce?: 'status' | 'alert';
}

const GLYPHS = {
  neutral: 'M12 11v5M12 8v.01',
  good: 'M8 12.5l2.7 2.7L16 9.5',
  warn: 'M12 8v5M12 16v.01',
  bad: 'M9 9l6 6M15 9l-6 6',
} as const;

/** A few sentences that must not be missed, with a sign that does not depend on colour. */
export function Callout({ tone = 'neutral', title, children, announce }: CalloutProps) {
  return (
    <div className="stoa-callout" data-tone={tone} role={announce}>
      <svg className="stoa-callout-sign" viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="9" />
        <path d={GLYPHS[tone]} />
      </svg>
      <div className="stoa-callout-text">
        {title != null && <p className="stoa-callout-title">{title}</p>}
        {children}
      </div>
    </div>
  );
}
