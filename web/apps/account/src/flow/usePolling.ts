/** Calls `poll` at an interval while the page is visible: for a flow that moves on in another place. */
import { useEffect } from 'react';

export function usePolling(poll: () => Promise<unknown>, intervalMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void poll();
    }, intervalMs);
    return () => {
      clearInterval(timer);
    };
  }, [poll, intervalMs]);
}
