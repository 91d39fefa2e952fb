/** What the browser knows of the connection and of whether anybody looks. Elsewhere nothing is ever told. */

/** What to call when the surroundings change. */
export interface Surroundings {
  /** The connection is there again, or the page is looked at again. */
  readonly onReturn: () => void;
  /** The connection is gone. */
  readonly onOffline: () => void;
  /** The page is hidden: another tab is in front, the window is minimised, the screen is locked. */
  readonly onHidden: () => void;
}

/** Listens until the function that it gives is called. */
export function watchSurroundings({ onReturn, onOffline, onHidden }: Surroundings): () => void {
  if (typeof window === 'undefined' || typeof document === 'undefined') return () => undefined;
  const onVisibility = () => (document.visibilityState === 'hidden' ? onHidden() : onReturn());
  addEventListener('online', onReturn);
  addEventListener('offline', onOffline);
  document.addEventListener('visibilitychange', onVisibility);
  return () => {
    removeEventListener('online', onReturn);
    removeEventListener('offline', onOffline);
    document.removeEventListener('visibilitychange', onVisibility);
  };
}

export const isHidden = (): boolean => typeof document !== 'undefined' && document.visibilityState === 'hidden';
