import type { Client, Query, System } from '@stoa/client';
import { queryOptions } from '@tanstack/react-query';

/** What a member writes about a visit. */
export interface VisitText {
  /** Id of an item of `cities`. */
  readonly city: string;
  /** Id of an item of `countries`. */
  readonly country: string;
  /** A calendar day, `2024-03-05`. */
  readonly visitedOn: string;
  readonly note?: string;
  /** 1 to 5. */
  readonly rating?: number;
}

/** An item of `journal`; each member sees their own. */
export type Visit = VisitText & System;

export const noteLength = 2000;

/** The member's own visits, latest first. */
export const visitsOf = (stoa: Client): Query<Visit> =>
  stoa.items.query<VisitText>('journal').descending('visitedOn', '_createdDate');

/** Forgotten after signing in or out (app/App.tsx). */
export const journalQuery = (stoa: Client) =>
  queryOptions({
    queryKey: ['journal'],
    queryFn: async ({ signal }) => {
      const first = await visitsOf(stoa).limit(200).find({ signal });
      const visits: Visit[] = [];
      for await (const visit of first) visits.push(visit);
      return visits;
    },
  });

export function addVisit(stoa: Client, visit: VisitText): Promise<Visit> {
  return insert(stoa, { _id: crypto.randomUUID(), ...visit });
}

export function changeVisit(stoa: Client, id: string, visit: VisitText): Promise<Visit> {
  return asOwn(id, () => stoa.items.update<VisitText & { _id: string }>('journal', { _id: id, ...visit }));
}

export async function removeVisit(stoa: Client, id: string): Promise<void> {
  await asOwn(id, () => stoa.items.remove('journal', id));
}

/** Puts a removed visit back under its old id, with what is written of it now. */
export function restoreVisit(stoa: Client, id: string, visit: VisitText): Promise<Visit> {
  const { city, country, visitedOn, note, rating } = visit;
  return insert(stoa, {
    _id: id,
    city,
    country,
    visitedOn,
    ...(note === undefined ? {} : { note }),
    ...(rating === undefined ? {} : { rating }),
  });
}

function insert(stoa: Client, visit: VisitText & { readonly _id: string }): Promise<Visit> {
  return asOwn(visit._id, () => stoa.items.insert('journal', visit));
}

/** When this window last wrote a visit, by its id. The news of it may come before the answer, or after. */
const written = new Map<string, number>();
const ownMs = 5000;

/** Whether this window made the change of which it hears now. */
export const isOwn = (id: string): boolean => Date.now() - (written.get(id) ?? 0) < ownMs;

async function asOwn<Answer>(id: string, write: () => Promise<Answer>): Promise<Answer> {
  written.set(id, Infinity);
  try {
    return await write();
  } finally {
    written.set(id, Date.now());
  }
}
