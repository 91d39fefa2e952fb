import { EmptyState } from '@stoa/ui';

import { useText } from '../text/useText.ts';
import { Link } from './Link.tsx';
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
          <Link to="/" variant="button">
            {t.states.toHome}
          </Link>
        }
      >
        {t.states.notFound}
      </EmptyState>
    </div>
  );
}
