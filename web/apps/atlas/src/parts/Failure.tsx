import { StoaError } from '@stoa/client';
import { Button, ErrorState } from '@stoa/ui';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';

import { signIn } from '../api/member.ts';
import { useSite } from '../api/site.ts';
import { type Spoken, useText } from '../text/useText.ts';
import { Link } from './Link.tsx';
import { DocumentTitle } from './Page.tsx';

/** A page that could not be shown, and the way on. */
export function Failure({ error }: Pick<ErrorComponentProps, 'error'>) {
  const router = useRouter();
  const { t } = useText();
  const { queries } = useSite();
  const retry = () => {
    void queries.resetQueries({ predicate: (query) => query.state.status === 'error' });
    void router.invalidate();
  };
  return (
    <div className="page">
      <DocumentTitle title={t.states.errorTitle} />
      <FailureState error={error} level={1} onRetry={retry} />
    </div>
  );
}

export interface FailureStateProps {
  readonly error: unknown;
  readonly level?: 1 | 2 | 3;
  readonly onRetry: () => void;
}

/** A part that could not be loaded: forbidden, session ended, or gone wrong. */
export function FailureState({ error, level = 2, onRetry }: FailureStateProps) {
  const spoken = useText();
  const { t } = spoken;
  const { stoa } = useSite();
  const status = error instanceof StoaError ? error.status : 0;
  if (status === 403) {
    return (
      <ErrorState
        title={t.states.forbiddenTitle}
        level={level}
        action={
          <Link to="/" variant="button">
            {t.states.toHome}
          </Link>
        }
      >
        {t.states.forbidden}
      </ErrorState>
    );
  }
  if (status === 401) {
    const again = () => void signIn(stoa, location.pathname + location.search);
    return (
      <ErrorState
        title={t.states.signInTitle}
        level={level}
        action={
          <Button variant="primary" onPress={again}>
            {t.account.signIn}
          </Button>
        }
      >
        {t.states.signIn}
      </ErrorState>
    );
  }
  return (
    <ErrorState title={t.states.errorTitle} level={level} action={<Button onPress={onRetry}>{t.states.retry}</Button>}>
      <p>{sentence(error, spoken)}</p>
      {error instanceof StoaError && error.requestId !== null && (
        <p className="quiet">{t.states.reference({ id: error.requestId })}</p>
      )}
    </ErrorState>
  );
}

/** What went wrong, for a person. */
export function sentence(error: unknown, { t }: Pick<Spoken, 't'>): string {
  if (!(error instanceof StoaError)) return t.states.server;
  if (error.code === 'NETWORK') return t.states.network;
  if (error.status === 429) return t.states.tooMany;
  if (error.status === 403) return t.states.forbidden;
  if (error.status === 401) return t.states.signIn;
  return error.status >= 500 || error.code === 'UNREADABLE' ? t.states.server : error.message;
}
