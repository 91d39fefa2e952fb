/** A subscription to visits, and what a server tells of them. */
import { expect, vi } from 'vitest';

import type { Change, SubscriptionHandlers, SubscriptionStatus } from '../src/index.ts';
import { type StreamServer, until } from './streams.ts';

export interface Visit {
  readonly _id: string;
  readonly on: string;
  readonly note?: string;
}

export const visit = (id: string, on: string, more: object = {}): Visit => ({ _id: id, on, ...more });

/** Subscribes to the visits, latest first, and keeps all that is told. */
export function listen({ stoa }: StreamServer, limit = 50, more: SubscriptionHandlers<Visit> = {}) {
  const told = { items: [] as string[][], changes: [] as Change<Visit>[], statuses: [] as SubscriptionStatus[] };
  const subscription = stoa.items
    .query<Visit>('journal')
    .descending('on')
    .limit(limit)
    .subscribe({
      onItems: (items) => told.items.push(items.map(({ _id }) => _id)),
      onChange: (change) => told.changes.push(change),
      onStatus: (status) => told.statuses.push(status),
      ...more,
    });
  return { subscription, told, ids: () => subscription.items.map(({ _id }) => _id) };
}

export const change = (key: string, type: Change<Visit>['type'], item: Visit, more: object = {}) => ({
  key,
  type,
  id: item._id,
  sequence: '1',
  ...(type === 'leave' ? {} : { item }),
  ...more,
});

/** From now on timers stand still until the test moves them; sockets go on. */
export function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
}

export const isStatus = (of: { readonly status: SubscriptionStatus }, status: SubscriptionStatus) =>
  until(() => expect(of.status).toBe(status));
