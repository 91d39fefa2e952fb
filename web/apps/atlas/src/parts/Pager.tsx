import { type LinkProps } from '@tanstack/react-router';

import { useText } from '../text/useText.ts';
import { Link } from './Link.tsx';
import './Pager.css';

export interface PagerProps {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  /** How many rows there are in all; null when that is not known. */
  readonly total: number | null;
  /** Whether rows follow, where the total is not known. */
  readonly hasNext?: boolean;
  /** The address of another page. */
  readonly to: (page: number) => Pick<LinkProps, 'to' | 'params' | 'search'>;
}

/** Where the table stands among all rows, and links to the pages around it. */
export function Pager({ page, pageSize, total, hasNext = false, to }: PagerProps) {
  const { t } = useText();
  const last = total === null ? page + (hasNext ? 1 : 0) : Math.max(1, Math.ceil(total / pageSize));
  if (last === 1) return null;
  const from = (page - 1) * pageSize + 1;
  return (
    <nav className="pager" aria-label={t.paging.label}>
      <p className="quiet">
        {total === null
          ? t.paging.rangeOfMany({ from, to: page * pageSize })
          : t.paging.range({ from: Math.min(from, total), to: Math.min(page * pageSize, total), total })}
      </p>
      <div className="pager-steps">
        <Step to={page > 1 ? to(page - 1) : null} reason={t.paging.noPrevious}>
          {t.paging.previous}
        </Step>
        <Step to={page < last ? to(page + 1) : null} reason={t.paging.noNext}>
          {t.paging.next}
        </Step>
      </div>
    </nav>
  );
}

interface StepProps {
  readonly to: Pick<LinkProps, 'to' | 'params' | 'search'> | null;
  readonly reason: string;
  readonly children: string;
}

function Step({ to, reason, children }: StepProps) {
  if (to === null) {
    return (
      <span className="pager-step" role="link" aria-disabled="true" title={reason}>
        {children}
      </span>
    );
  }
  return (
    <Link {...to} variant="plain" className="pager-step" resetScroll={false}>
      {children}
    </Link>
  );
}
