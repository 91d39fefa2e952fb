/** How these pages ask the server: one helper, and one error that can come of it. Nothing here knows about React. */
import { sitePath } from './site.ts';

const TIMEOUT_MS = 30_000;

/** Why there is no value. `offline`: no answer; `expired`: what was asked about is over; `refused`: the server said no; `broken`: its fault. */
export interface Failure {
  why: 'offline' | 'expired' | 'refused' | 'broken';
  code: string;
  message: string;
  requestId: string | null;
  /** The client by which the site is found where a flow starts again, when the server knows it. */
  clientId: string | null;
}

export type Answer<Value> = { value: Value } | { failure: Failure };

export interface RequestOptions<Value> {
  path: string;
  /** Sent with POST; without one the request is a GET. */
  body?: object;
  /** Recognises the value in the JSON of a good answer. */
  isValue: (json: unknown) => json is Value;
  /** Recognises the refusals which say that what was asked about is over. */
  isExpired?: (status: number, code: string) => boolean;
}

export async function request<Value>({
  path,
  body,
  isValue,
  isExpired,
}: RequestOptions<Value>): Promise<Answer<Value>> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(sitePath() + path, {
      method: body === undefined ? 'GET' : 'POST',
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch {
    return { failure: { why: 'offline', code: '', message: '', requestId: null, clientId: null } };
  }
  const json = parse(text);
  return response.ok && isValue(json) ? { value: json } : { failure: failureOf(response, json, isExpired) };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function failureOf(
  response: Response,
  json: unknown,
  isExpired: (status: number, code: string) => boolean = () => false,
): Failure {
  const details = isObject(json) && isObject(json['details']) ? json['details'] : {};
  const error = isObject(details['applicationError']) ? details['applicationError'] : {};
  const data = isObject(error['data']) ? error['data'] : {};
  const code = stringOr(error['code'], '');
  const { status } = response;
  const isRefusal = status >= 400 && status < 500;
  return {
    why: isExpired(status, code) ? 'expired' : isRefusal ? 'refused' : 'broken',
    code,
    message: stringOr(error['description'], '') || stringOr(isObject(json) && json['message'], ''),
    requestId: response.headers.get('x-wix-request-id'),
    clientId: stringOr(data['clientId'], null),
  };
}

const stringOr = <Other>(value: unknown, other: Other): string | Other => (typeof value === 'string' ? value : other);
