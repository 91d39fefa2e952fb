import { EmptyState } from '@stoa/ui';
import { Link } from '@tanstack/react-router';

import { useText } from '../text/useText.ts';
import { DocumentTitle } from './Page.tsx';

export function NotFound() {
  const { t } = useText();
  return (
    <div className="page">
      <DocumentTitle title={t.states.notFoundTitle} />
      <EmptyState
        title={t.states.notFoundTitle}
        level={1}
        action={
          <Link to="/" className="button-link">
            {t.states.toHome}
          </Link>
        }
      >
        {t.states.notFound}
      </EmptyState>
    </div>
  );
}
