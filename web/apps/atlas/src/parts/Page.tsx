import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

import { useSite } from '../api/site.ts';
import './Page.css';

export interface PageProps {
  readonly title: string;
  /** Stands before the title, for example a flag. */
  readonly sign?: ReactNode;
  /** Under the title. */
  readonly lead?: ReactNode;
  /** At the end of the title's line. */
  readonly actions?: ReactNode;
  /** Text column for reading instead of the whole width. */
  readonly narrow?: boolean;
  readonly children?: ReactNode;
}

/** The frame of a page: document title, heading, and the focus on it after a page change. */
export function Page({ title, sign, lead, actions, narrow = false, children }: PageProps) {
  return (
    <div className={narrow ? 'page page-narrow' : 'page'}>
      <DocumentTitle title={title} />
      <header className="page-head">
        <div className="page-titles">
          <Heading>
            {sign}
            {title}
          </Heading>
          {lead != null && <div className="page-lead">{lead}</div>}
        </div>
        {actions != null && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function DocumentTitle({ title }: { readonly title: string }) {
  const { settings } = useSite();
  return <title>{title === settings.name ? title : `${title} · ${settings.name}`}</title>;
}

/** The page's only h1. Takes the focus after a change of page, so that it is read out and the keyboard starts there. */
export function Heading({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const router = useRouter();
  useEffect(() => {
    // Not on arrival: the browser's own start of the document is right then.
    if (router.history.length > 1 && hasMoved) heading.current?.focus({ preventScroll: true });
    hasMoved = true;
  }, [router]);
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children}
    </h1>
  );
}

let hasMoved = false;
