/** The requests of the page on which those who run a site change their password and see where they are signed in. */
import type { Problem, SiteFace } from '@stoa/api';
import { isObject, request, type Answer } from './request.ts';

const PATH = '/_api/account/v1/operator';

/** A browser in which the person is signed in to a site. */
export interface OwnerSession {
  id: string;
  siteName: string;
  /** For example `Firefox · Linux`. */
  device: string | null;
  createdDate: string;
  /** It is the one that asks. */
  isCurrent: boolean;
}

export interface OwnerAccount {
  site: SiteFace;
  email: string;
  role: 'OWNER' | 'EDITOR';
  passwordMinLength: number;
  sessions: OwnerSession[];
  /** What is wrong with what was sent. */
  problems: Problem[];
}

export const readAccount = (): Promise<Answer<OwnerAccount>> => request({ path: PATH, isValue: isAccount });

export const changePassword = (old: string, password: string): Promise<Answer<OwnerAccount>> =>
  request({ path: `${PATH}/password`, body: { old, password }, isValue: isAccount });

export const endSession = (session: string): Promise<Answer<OwnerAccount>> =>
  request({ path: `${PATH}/sessions/end`, body: { session }, isValue: isAccount });

export const endOtherSessions = (): Promise<Answer<OwnerAccount>> =>
  request({ path: `${PATH}/sessions/end-others`, body: {}, isValue: isAccount });

const isAccount = (json: unknown): json is OwnerAccount =>
  isObject(json) &&
  typeof json['email'] === 'string' &&
  isObject(json['site']) &&
  Array.isArray(json['sessions']) &&
  Array.isArray(json['problems']);
