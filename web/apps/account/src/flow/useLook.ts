/** Looks now and then whether the flow moved on elsewhere, while the page is in sight. */
import { useEffect } from 'react';

export function useLook(look: () => Promise<void>, everyMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void look();
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [look, everyMs]);
}
