import { EmptyState, LoadingState } from '@stoa/ui';
import type { ReactNode } from 'react';

import { useText } from '../text/useText.ts';
import { FailureState } from './Failure.tsx';

export interface FiguresStateProps<Data> {
  /** Undefined until it is there. */
  readonly data: Data | undefined;
  /** Null unless it could not be loaded. */
  readonly error: unknown;
  readonly isEmpty: (data: Data) => boolean;
  readonly onRetry: () => void;
  readonly children: (data: Data) => ReactNode;
}

/** Figures once they are there; before that, or without them, what is the matter. */
export function FiguresState<Data>({ data, error, isEmpty, onRetry, children }: FiguresStateProps<Data>) {
  const { t } = useText();
  if (data !== undefined && !isEmpty(data)) return children(data);
  if (data === undefined) {
    return error === null ? (
      <LoadingState label={t.states.loading} />
    ) : (
      <FailureState error={error} level={3} onRetry={onRetry} />
    );
  }
  return (
    <EmptyState title={t.figures.none} level={3}>
      {t.figures.noneText}
    </EmptyState>
  );
}
