import type { SubscriptionStatus } from '@stoa/client';
import { useEffect, useState } from 'react';

import { useText } from '../text/useText.ts';
import { useAnnounce } from './Announcer.tsx';
import './LiveState.css';

/** A connection that comes back sooner than this was not missed; milliseconds. */
const unnoticedMs = 3000;

export interface LiveStateProps {
  readonly status: SubscriptionStatus;
}

/** Says so, quietly, while changes made elsewhere do not show. Nothing while they do. */
export function LiveState({ status }: LiveStateProps) {
  return status === 'live' ? null : <Missed isFinal={status === 'failed'} />;
}

function Missed({ isFinal }: { readonly isFinal: boolean }) {
  const { t } = useText();
  const announce = useAnnounce();
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), unnoticedMs);
    return () => clearTimeout(timer);
  }, []);
  const text = isFinal ? t.journal.notLive : isLate ? t.journal.notConnected : null;
  useEffect(() => {
    if (text !== null) announce(text);
  }, [text, announce]);
  return text === null ? null : <p className="live-state">{text}</p>;
}
