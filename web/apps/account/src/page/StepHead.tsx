import { useEffect, type ReactNode } from 'react';

export const TITLE_ID = 'step-title';

/** The window's title, and the focus on the heading of a page that asks for nothing. */
export function usePageTitle(title: string, site?: string): void {
  useEffect(() => {
    document.title = site === undefined || title.includes(site) ? title : `${title} · ${site}`;
  }, [title, site]);
}

/** The one question of a page, as its heading and as the window's title. */
export function StepHead({ title, site, children }: { title: string; site: string; children?: ReactNode }) {
  usePageTitle(title, site);
  return (
    <div className="step-head">
      <h1 id={TITLE_ID} tabIndex={-1}>
        {title}
      </h1>
      {children != null && <p>{children}</p>}
    </div>
  );
}
