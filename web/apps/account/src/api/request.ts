/** How these pages ask the server: one helper, and one error that can come of it. Nothing here knows about React. */
import type { Problem } from '@stoa/api';
import { sitePath } from './site.ts';

const TIMEOUT_MS = 30_000;

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Why there is no value. `offline`: no answer; `expired`: what was asked about is over; `refused`: the server said no; `broken`: its fault. */
export interface Failure {
  why: 'offline' | 'expired' | 'refused' | 'broken';
  code: string;
  message: string;
  requestId: string | null;
  /** The client by which the site is found where a flow starts again, when the server knows it. */
  clientId: string | null;
  /** What is wrong with the fields that were sent. */
  problems: readonly Problem[];
}

/** The code of the refusal for who is not signed in. */
export const SIGNED_OUT = 'UNAUTHENTICATED';

export type Answer<Value> = { value: Value } | { failure: Failure };

export interface RequestOptions<Value> {
  path: string;
  /** The id of the site that is asked; without one it is that of the page's address. */
  site?: string;
  /** Sent with POST where no other method is named; without one the request is a GET. */
  body?: object;
  method?: Method;
  /** Beside those that every request has. */
  headers?: Readonly<Record<string, string>>;
  /** Recognises the value in the JSON of a good answer. */
  isValue: (json: unknown) => json is Value;
  /** Recognises the refusals which say that what was asked about is over. */
  isExpired?: (status: number, code: string) => boolean;
}

export async function request<Value>({
  path,
  site,
  body,
  method = body === undefined ? 'GET' : 'POST',
  headers,
  isValue,
  isExpired,
}: RequestOptions<Value>): Promise<Answer<Value>> {
  let response: Response;
  let text: string;
  try {
    response = await fetch((site === undefined ? sitePath() : `/s/${encodeURIComponent(site)}`) + path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch {
    return { failure: { why: 'offline', code: '', message: '', requestId: null, clientId: null, problems: [] } };
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
    problems: problemsOf(details['validationError']),
  };
}

/** The rules that fields broke, by the codes of problems.ts. */
function problemsOf(validation: unknown): Problem[] {
  const violations = isObject(validation) && validation['fieldViolations'];
  if (!Array.isArray(violations)) return [];
  return violations.filter(isObject).map((it) => {
    const field = stringOr(it['field'], '').split('.').at(-1) ?? '';
    const rule = stringOr(it['ruleName'], '') || stringOr(it['violatedRule'], '');
    const code = field === 'newPassword' ? (PASSWORD_RULES[rule] ?? rule) : rule;
    return { field, code, message: stringOr(it['description'], '') };
  });
}

const PASSWORD_RULES: Record<string, string> = { MIN_LENGTH: 'PASSWORD_TOO_SHORT', MAX_LENGTH: 'PASSWORD_TOO_LONG' };

const stringOr = <Other>(value: unknown, other: Other): string | Other => (typeof value === 'string' ? value : other);
