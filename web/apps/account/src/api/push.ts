/** Notifications as a second factor: what a member adds, and the page to which a notification leads. */
import type { SiteFace } from '@stoa/api';
import type { Enrolment, FactorCalls } from './member.ts';
import { isObject, request, type Answer } from './request.ts';

const QUESTIONS = '/_api/identity/v1/push-questions';

/** What the browser's service for notifications gave, as the server takes it. */
export interface Subscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** The sign-in, or the change of the account, about which a browser is asked. */
export interface PushQuestion {
  site: SiteFace;
  for: 'SIGN_IN' | 'CHANGE';
  /** Words for the browser in which it began. */
  device?: string;
  address?: string;
  createdDate: string;
  expiresDate: string;
}

/** Begins to ask a browser, to which a code is sent. */
export async function beginPush(
  calls: FactorCalls,
  subscription: Subscription,
  name: string,
): Promise<Answer<Enrolment>> {
  const body = { type: 'PUSH', subscription, ...(name ? { name } : {}) };
  const answer = await calls.ask({ path: `${calls.path}/factors`, body, isValue: isBegun });
  return 'failure' in answer ? answer : { value: { factor: answer.value.factor, isPushed: true } };
}

/** What the member's browsers are asked. */
export interface PushAsked {
  /** Two digits, which are typed there. */
  number: string;
  transactionId: string;
}

/** Begins a proof by a notification. */
export const beginPushProof = (calls: FactorCalls): Promise<Answer<PushAsked>> =>
  sendProof(calls, {}, isAsked, askedOf);

/** How a proof stands: whether it is approved. Once it is denied or too old the server refuses it. */
export const readPushProof = (calls: FactorCalls, transactionId: string): Promise<Answer<boolean>> =>
  sendProof(calls, { transactionId }, isObject, (json) => typeof json['provedUntil'] === 'string');

/** An `expired` failure means: it was answered, is too old or unknown. */
export const readQuestion = (token: string): Promise<Answer<PushQuestion>> =>
  request({ path: QUESTIONS, body: { token }, isValue: isQuestion, isExpired });

/** The code of the refusal for another number than the one that is shown; the question is over by that. */
export const WRONG_NUMBER = 'VERIFICATION_FAILED';

export const answerQuestion = (token: string, answer: { number: string } | { denied: true }): Promise<Answer<object>> =>
  request({ path: `${QUESTIONS}/answer`, body: { token, ...answer }, isValue: isObject, isExpired });

async function sendProof<Json, Value>(
  calls: FactorCalls,
  pushData: object,
  isValue: (json: unknown) => json is Json,
  read: (json: Json) => Value,
): Promise<Answer<Value>> {
  const answer = await calls.ask({ path: `${calls.path}/proof`, body: { pushData }, isValue });
  return 'failure' in answer ? answer : { value: read(answer.value) };
}

interface AskedJson {
  hint: string;
  pushData: { transactionId: string };
}

const isAsked = (json: unknown): json is AskedJson =>
  isObject(json) &&
  typeof json['hint'] === 'string' &&
  isObject(json['pushData']) &&
  typeof json['pushData']['transactionId'] === 'string';

const askedOf = ({ hint, pushData }: AskedJson): PushAsked => ({
  number: hint,
  transactionId: pushData.transactionId,
});

const isExpired = (_: number, code: string) => code === 'NOT_FOUND';

const isBegun = (json: unknown): json is { factor: { id: string } } =>
  isObject(json) && isObject(json['factor']) && typeof json['factor']['id'] === 'string';

const isQuestion = (json: unknown): json is PushQuestion =>
  isObject(json) &&
  isObject(json['site']) &&
  (json['for'] === 'SIGN_IN' || json['for'] === 'CHANGE') &&
  typeof json['createdDate'] === 'string';
