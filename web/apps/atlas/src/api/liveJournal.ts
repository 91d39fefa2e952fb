import type { Change, SubscriptionStatus } from '@stoa/client';
import { useEffect, useEffectEvent, useState } from 'react';

import { type Visit, isOwn, journalQuery, visitsOf } from './journal.ts';
import { type Site, useSite } from './site.ts';

/** So many fit into the beginning of a stream. Of those who write more, the visits are asked for after each change. */
const followed = 500;
/** Changes that come this close together are told together; milliseconds. */
const togetherMs = 300;

export interface JournalFollower {
  /** Other visits are about to take the place of those that are shown. */
  readonly onUpdate: () => void;
  /** What was changed, but not in this window. */
  readonly onElsewhere: (changes: readonly Change<Visit>[]) => void;
}

/** Keeps the visits in the cache as they are on the server for as long as the part is shown; says whether that works. */
export function useLiveJournal(follower: JournalFollower): SubscriptionStatus {
  const { stoa, queries } = useSite();
  const [status, setStatus] = useState<SubscriptionStatus>('connecting');
  const onUpdate = useEffectEvent(follower.onUpdate);
  const onElsewhere = useEffectEvent(follower.onElsewhere);
  useEffect(() => followJournal({ stoa, queries }, setStatus, { onUpdate, onElsewhere }), [stoa, queries]);
  return status;
}

function followJournal(
  { stoa, queries }: Pick<Site, 'stoa' | 'queries'>,
  onStatus: (status: SubscriptionStatus) => void,
  { onUpdate, onElsewhere }: JournalFollower,
): () => void {
  const { queryKey } = journalQuery(stoa);
  const elsewhere: Change<Visit>[] = [];
  let telling: ReturnType<typeof setTimeout> | undefined;

  let fed: readonly object[] | null = null;

  const feed = async () => {
    if (visits.items === fed) return;
    // An answer that is on its way may be older than this.
    await queries.cancelQueries({ queryKey });
    if (visits.status !== 'live' || visits.items === fed) return;
    fed = visits.items;
    onUpdate();
    if (visits.hasMore) await queries.invalidateQueries({ queryKey });
    else queries.setQueryData(queryKey, [...visits.items]);
  };
  const tell = () => {
    telling = undefined;
    onElsewhere(elsewhere.splice(0));
  };
  const visits = visitsOf(stoa)
    .limit(followed)
    .subscribe({
      onStatus: (now) => {
        onStatus(now);
        // What was told before, when it was not yet, or no longer.
        if (now === 'live') void feed();
      },
      onItems: () => void feed(),
      onChange: (change) => {
        if (isOwn(change.id) || (change.item ?? change.previous) === null) return;
        elsewhere.push(change);
        telling ??= setTimeout(tell, togetherMs);
      },
    });
  return () => {
    visits.close();
    clearTimeout(telling);
  };
}
