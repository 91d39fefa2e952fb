/** The three requests of the account pages. Nothing here knows about React or about what is on the page. */
import type { FlowInput, FlowStart, FlowView } from '@stoa/api';
import { captchaAnswer } from './captcha.ts';

const ROOT = '/_api/account/v1/flows';
const PATIENCE_MS = 30_000;
const CAPTCHA_MISSING = '-19971';

/** Why there is no view. `offline`: no answer; `expired`: the flow is gone; `refused`: the server said no; `broken`: its fault. */
export interface Failure {
  why: 'offline' | 'expired' | 'refused' | 'broken';
  code: string;
  message: string;
  requestId: string | null;
  /** The client by which the site is found where the flow begins anew, when the server knows it. */
  clientId: string | null;
}

export type Answer = { view: FlowView } | { failure: Failure };

export const startFlow = (start: FlowStart): Promise<Answer> => send('POST', ROOT, start);
export const readFlow = (token: string): Promise<Answer> => send('GET', flowPath(token));

/** Sends an input; when the site wants a captcha answer with it, again with one. */
export async function answerFlow(token: string, input: FlowInput): Promise<Answer> {
  const answer = await send('POST', flowPath(token), input);
  const isAsked = 'view' in answer && answer.view.problems.some((it) => it.code === CAPTCHA_MISSING);
  if (!isAsked || !('captcha' in input) || input.captcha !== null) return answer;
  const captcha = await captchaAnswer();
  return captcha === null ? answer : send('POST', flowPath(token), { ...input, captcha });
}

const flowPath = (token: string) => `${ROOT}/${encodeURIComponent(token)}`;

async function send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    text = await response.text();
  } catch {
    return { failure: { why: 'offline', code: '', message: '', requestId: null, clientId: null } };
  }
  const json = parse(text);
  if (response.ok && isView(json)) return { view: json };
  return { failure: failureOf(response, json, path !== ROOT) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function isView(json: unknown): json is FlowView {
  return isObject(json) && typeof json['token'] === 'string' && isObject(json['step']) && isObject(json['site']);
}

/** Codes that say that this flow will never go on. */
const GONE = new Set(['INVALID_STATE_TOKEN', 'FLOW_EXPIRED', 'FLOW_NOT_FOUND']);

function failureOf(response: Response, json: unknown, ofFlow: boolean): Failure {
  const details = isObject(json) && isObject(json['details']) ? json['details'] : {};
  const error = isObject(details['applicationError']) ? details['applicationError'] : {};
  const code = typeof error['code'] === 'string' ? error['code'] : '';
  const message =
    [error['description'], isObject(json) ? json['message'] : null].find(
      (it): it is string => typeof it === 'string' && it !== '',
    ) ?? '';
  const data = isObject(error['data']) ? error['data'] : {};
  const clientId = typeof data['clientId'] === 'string' ? data['clientId'] : null;
  const requestId = response.headers.get('x-wix-request-id');
  const status = response.status;
  const why =
    GONE.has(code) || (ofFlow && (status === 404 || status === 410))
      ? 'expired'
      : status >= 400 && status < 500
        ? 'refused'
        : 'broken';
  return { why, code, message, requestId, clientId };
}
