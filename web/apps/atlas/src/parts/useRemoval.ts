import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { type Visit, removeVisit, restoreVisit } from '../api/journal.ts';
import { useSite } from '../api/site.ts';
import { useText } from '../text/useText.ts';
import { useAnnounce } from './Announcer.tsx';
import { sentence } from './Failure.tsx';

export interface Notice {
  readonly tone: 'neutral' | 'good' | 'bad';
  readonly text: string;
  readonly undo: (() => void) | null;
}

/** Removes a visit at once and offers it back. */
export function useRemoval(placeOf: (visit: Visit) => string) {
  const { stoa } = useSite();
  const spoken = useText();
  const { t } = spoken;
  const queries = useQueryClient();
  const announce = useAnnounce();
  const [notice, setNotice] = useState<Notice | null>(null);
  const say = (next: Notice) => {
    setNotice(next);
    announce(next.text);
  };
  const fail = (error: unknown) => say({ tone: 'bad', text: sentence(error, spoken), undo: null });
  const refresh = () => queries.invalidateQueries({ queryKey: ['journal'] });

  const restore = useMutation({
    mutationFn: (visit: Visit) => restoreVisit(stoa, visit._id, visit),
    onSuccess: async (_, visit) => {
      await refresh();
      say({ tone: 'good', text: t.journal.restored({ place: placeOf(visit) }), undo: null });
    },
    onError: fail,
  });
  const remove = useMutation({
    mutationFn: (visit: Visit) => removeVisit(stoa, visit._id),
    onSuccess: async (_, visit) => {
      await refresh();
      const text = t.journal.removed({ place: placeOf(visit) });
      say({ tone: 'neutral', text, undo: () => restore.mutate(visit) });
    },
    onError: fail,
  });
  return { remove: remove.mutate, notice, dismiss: () => setNotice(null) };
}
