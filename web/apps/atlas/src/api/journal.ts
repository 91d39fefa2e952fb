import type { Client, System } from '@stoa/client';
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

/** The member's own visits, latest first. Forgotten after signing in or out (app/App.tsx). */
export const journalQuery = (stoa: Client) =>
  queryOptions({
    queryKey: ['journal'],
    queryFn: async ({ signal }) => {
      const first = await stoa.items
        .query<VisitText>('journal')
        .descending('visitedOn', '_createdDate')
        .limit(200)
        .find({ signal });
      const visits: Visit[] = [];
      for await (const visit of first) visits.push(visit);
      return visits;
    },
  });

export function addVisit(stoa: Client, visit: VisitText): Promise<Visit> {
  return stoa.items.insert<VisitText>('journal', visit);
}

export function changeVisit(stoa: Client, id: string, visit: VisitText): Promise<Visit> {
  return stoa.items.update<VisitText & { _id: string }>('journal', { _id: id, ...visit });
}

export async function removeVisit(stoa: Client, id: string): Promise<void> {
  await stoa.items.remove('journal', id);
}

/** Puts a removed visit back under its old id. */
export function restoreVisit(stoa: Client, visit: Visit): Promise<Visit> {
  const { _id, city, country, visitedOn, note, rating } = visit;
  return stoa.items.insert<VisitText & { _id: string }>('journal', {
    _id,
    city,
    country,
    visitedOn,
    ...(note === undefined ? {} : { note }),
    ...(rating === undefined ? {} : { rating }),
  });
}
