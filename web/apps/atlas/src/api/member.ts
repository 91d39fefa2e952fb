import type { Client } from '@stoa/client';
import { queryOptions } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

import { sitePath } from '../address/site.ts';

export const memberQuery = (stoa: Client) =>
  queryOptions({
    queryKey: ['member'],
    staleTime: Infinity,
    queryFn: ({ signal }) => stoa.auth.member({ signal }),
  });

/** Whether a member is signed in, in this tab or another. */
export function useLoggedIn(stoa: Client): boolean {
  return useSyncExternalStore(
    (listener) => stoa.auth.subscribe(listener),
    () => stoa.auth.loggedIn,
  );
}

/** Leaves for the sign-in page; the person comes back to `returnTo`, a path of this site. */
export async function signIn(stoa: Client, returnTo: string): Promise<void> {
  location.assign(await stoa.auth.signInUrl({ redirectUri: `${location.origin}${sitePath()}/signed-in`, returnTo }));
}

export async function signOut(stoa: Client): Promise<void> {
  location.assign(await stoa.auth.signOut(`${location.origin}${sitePath()}/`));
}
