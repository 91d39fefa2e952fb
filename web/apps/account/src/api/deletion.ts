/** The two requests of the page on which a member keeps an account that is to be deleted. */
import type { SiteFace } from '@stoa/api';
import { isObject, request, type Answer } from './request.ts';

const PATH = '/_api/account/v1/deletions';

/** The account that a link is about. */
export interface WaitingDeletion {
  site: SiteFace;
  email: string;
  /** When it goes; absent once it is kept. */
  deletionDate?: string;
}

/** An `expired` failure means: the link is used, too old or unknown. */
export const readDeletion = (token: string): Promise<Answer<WaitingDeletion>> => send(PATH, token);

export const undoDeletion = (token: string): Promise<Answer<WaitingDeletion>> => send(`${PATH}/undo`, token);

const send = (path: string, token: string): Promise<Answer<WaitingDeletion>> =>
  request({ path, body: { token }, isValue: isDeletion, isExpired: isLinkOver });

const isLinkOver = (status: number) => status >= 400 && status < 500 && status !== 429;

const isDeletion = (json: unknown): json is WaitingDeletion =>
  isObject(json) && isObject(json['site']) && typeof json['email'] === 'string';
