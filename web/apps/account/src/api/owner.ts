/** The requests of the page on which those who run a site look after their password, factors and sign-ins. */
import type { Problem, SiteFace } from '@stoa/api';
import type { Ask, FactorAccount, FactorCalls } from './member.ts';
import { inLanguage, type Place } from './place.ts';
import { SIGNED_OUT, isObject, request, type Answer, type Failure } from './request.ts';

const PATH = '/_api/account/v1/operator';

/** A browser in which the person is signed in to a site. */
export interface OwnerSession {
  id: string;
  siteName: string;
  /** For example `Firefox · Linux`. */
  device: string | null;
  /** The network address from which it began, and roughly where that is, where the server can tell. */
  address: string | null;
  place: Place | null;
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

/**
 * The calls of who runs the site, whom the server knows by the cookie of the session. `onSignedOut` is told when there is
 * none any more.
 */
export const operatorCalls = (onSignedOut: (failure: Failure) => void): FactorCalls => ({
  path: PATH,
  ask: async (options) => {
    const answer = await request(options);
    if ('failure' in answer && answer.failure.code === SIGNED_OUT) onSignedOut(answer.failure);
    return answer;
  },
});

/** An invitation went to the address, and who accepted it has chosen a password. */
export const operatorAccount = (site: SiteFace): FactorAccount => ({
  site,
  emailVerified: true,
  hasPassword: true,
  isOperator: true,
});

/** How a call is sent, and the language in which places are named. */
export interface OwnerAsk {
  ask: Ask;
  language: string;
}

const answered = ({ ask, language }: OwnerAsk, path: string, body?: object): Promise<Answer<OwnerAccount>> =>
  ask({
    path: PATH + path,
    headers: inLanguage(language),
    isValue: isAccount,
    ...(body === undefined ? {} : { body }),
  });

export const readAccount = (language: string) => answered({ ask: request, language }, '');

export const changePassword = (as: OwnerAsk, old: string, password: string) =>
  answered(as, '/password', { old, password });

export const endSession = (as: OwnerAsk, session: string) => answered(as, '/sessions/end', { session });

export const endOtherSessions = (as: OwnerAsk) => answered(as, '/sessions/end-others', {});

const isAccount = (json: unknown): json is OwnerAccount =>
  isObject(json) &&
  typeof json['email'] === 'string' &&
  isObject(json['site']) &&
  Array.isArray(json['sessions']) &&
  Array.isArray(json['problems']);
