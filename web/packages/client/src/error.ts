/**
 * The one error that this package throws, and how an answer of the server becomes one.
 * Programming mistakes (a wrong argument) are the same class with `status` 0, thrown before any request.
 */

/** What is wrong with one member of a request. */
export interface Violation {
  /** Path of the member in the request, for example `loginId.email`. */
  readonly field: string;
  /** A sentence for people. */
  readonly description: string;
  /** The rule that was broken, for example `MAX_LENGTH`, when the server says so. */
  readonly violatedRule?: string;
  /** The rule's own figures, for example `{ threshold: 1000 }`. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What {@link StoaError} is made from. */
export interface StoaErrorInit {
  readonly code: string;
  readonly status?: number;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly details?: unknown;
  readonly violations?: readonly Violation[];
  readonly cause?: unknown;
}

/**
 * Every failure of a call.
 *
 * ```ts
 * try {
 *   await stoa.items.insert('journal', visit);
 * } catch (error) {
 *   if (error instanceof StoaError && error.code === 'WDE0027') askToSignIn();
 * }
 * ```
 */
export class StoaError extends Error {
  override readonly name = 'StoaError';
  /**
   * What went wrong, for programs: the server's code (`WDE0027`, `-19976`, `invalid_grant`), or one of this package:
   * `NETWORK` (no answer), `ABORTED`, `INVALID_ARGUMENT` (see {@link violations}), `HTTP_<status>` (an answer that
   * carried no code), `UNREADABLE` (an answer that is not JSON).
   */
  readonly code: string;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Id to quote to the people who run the server. */
  readonly requestId: string | null;
  /** When the server takes the call again, in milliseconds from its answer; null when it did not say. */
  readonly retryAfterMs: number | null;
  /** `details` of the answer, as sent. */
  readonly details: unknown;
  /** Faults of single members of the request, sorted by field. */
  readonly violations: readonly Violation[];

  constructor(message: string, init: StoaErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.status = init.status ?? 0;
    this.requestId = init.requestId ?? null;
    this.retryAfterMs = init.retryAfterMs ?? null;
    this.details = init.details;
    this.violations = init.violations ?? [];
  }
}

/** A mistake of the caller, found before any request. */
export function invalid(code: string, message: string): StoaError {
  return new StoaError(`${code}: ${message}`, { code });
}

/** What an answer that is no success says outside of its body. */
export interface FailedAnswer {
  readonly status: number;
  /** The words behind the status, where the protocol has them. */
  readonly reason: string;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
}

/**
 * Reads an error answer. Three bodies are known: `details.applicationError {code, description}`,
 * `details.validationError {fieldViolations}` and, from the token endpoint, `{error, error_description}`.
 */
export function errorFromAnswer(answer: FailedAnswer, body: unknown): StoaError {
  const { status, reason, requestId, retryAfterMs } = answer;
  const top = record(body);
  const details = record(top['details']);
  const init = { status, requestId, retryAfterMs, details: top['details'] };

  if (status === 413) {
    return new StoaError('WDE0109: The request is larger than the server takes.', { ...init, code: 'WDE0109' });
  }
  const application = details['applicationError'];
  const violations = readViolations(record(details['validationError'])['fieldViolations']);
  if (violations.length > 0) {
    const message = violations.map((each) => `${each.field}: ${each.description}`).join('; ');
    const code = text(record(application)['code']) ?? 'INVALID_ARGUMENT';
    return new StoaError(message, { ...init, code, violations });
  }
  if (application !== undefined && application !== null) {
    const { code, description } = record(application);
    return new StoaError(text(description) ?? text(top['message']) ?? reason, {
      ...init,
      code: text(code) ?? `HTTP_${status}`,
    });
  }
  const error = text(top['error']);
  if (error !== undefined) {
    return new StoaError(text(top['error_description']) ?? error, { ...init, code: error });
  }
  return new StoaError(text(top['message']) ?? (reason || `The server answered ${status}.`), {
    ...init,
    code: `HTTP_${status}`,
  });
}

function readViolations(list: unknown): Violation[] {
  if (!Array.isArray(list)) return [];
  const found: Violation[] = [];
  for (const entry of list) {
    const { field, description, violatedRule, data } = record(entry);
    if (typeof field !== 'string') continue;
    found.push({
      field,
      description: text(description) ?? '',
      ...(typeof violatedRule === 'string' ? { violatedRule } : {}),
      ...(isRecord(data) ? { data } : {}),
    });
  }
  return found.sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0));
}

function text(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object to look into; anything else has no members. */
export function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
