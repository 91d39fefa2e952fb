/** What every page works with: the client of the site and the cache of its answers. */
import { type Client, StoaError } from '@stoa/client';
import { QueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';

import type { Settings } from './settings.ts';

export interface Site {
  readonly stoa: Client;
  readonly queries: QueryClient;
  readonly settings: Settings;
}

export const SiteContext = createContext<Site | null>(null);

export function useSite(): Site {
  const site = useContext(SiteContext);
  if (site === null) throw new Error('useSite stands outside of the site.');
  return site;
}

/** Milliseconds for which an answer is taken to be that which the server would give again. */
export const freshMs = 5 * 60_000;

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: freshMs,
        // Only what may pass by itself is asked again, and not before the server takes it.
        retry: (count, error) =>
          count < 2 &&
          error instanceof StoaError &&
          (error.code === 'NETWORK' || error.status >= 502 || isSoonTaken(error)),
        retryDelay: (count, error) => (error instanceof StoaError && error.retryAfterMs) || 1000 * 2 ** count,
      },
    },
  });
}

/** Milliseconds that a page waits for its turn. */
const longestWaitMs = 10_000;

const isSoonTaken = ({ status, retryAfterMs }: StoaError) => status === 429 && (retryAfterMs ?? 0) <= longestWaitMs;
