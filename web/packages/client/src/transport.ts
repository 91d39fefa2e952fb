/** One HTTP exchange with the server: JSON out, JSON in, every failure a {@link StoaError}. Knows nothing of tokens' life. */
import { StoaError, errorFromAnswer } from './error.ts';

export interface Exchange {
  readonly method: 'GET' | 'POST';
  /** Path and query, from `/`. */
  readonly path: string;
  readonly body?: unknown;
  /** Value of the Authorization header; none when absent. */
  readonly authorization?: string;
  readonly signal?: AbortSignal | undefined;
}

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export class Transport {
  readonly #baseUrl: string;
  readonly #fetch: Fetch;
  /** What the server asked to be told on later calls, so that a read after a write sees it. */
  #consistent: string | null = null;

  constructor(baseUrl: string, fetch: Fetch) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#fetch = fetch;
  }

  /** Gives the parsed body of a success (2xx). */
  async send(exchange: Exchange): Promise<unknown> {
    const response = await this.#ask(exchange);
    const requestId = response.headers.get('x-wix-request-id');
    this.#consistent = response.headers.get('x-wix-consistent') ?? this.#consistent;
    const text = await this.#text(response, exchange.signal);
    const body = parse(text);
    if (!response.ok) throw errorFromAnswer(response.status, response.statusText, requestId, body);
    if (body === undefined) {
      throw new StoaError('The server answered with something that is not JSON.', {
        code: 'UNREADABLE',
        status: response.status,
        requestId,
      });
    }
    return body;
  }

  async #ask({ method, path, body, authorization, signal }: Exchange): Promise<Response> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (authorization !== undefined) headers['authorization'] = authorization;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (this.#consistent !== null) headers['x-wix-consistent'] = this.#consistent;
    try {
      return await this.#fetch(this.#baseUrl + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (cause) {
      throw unanswered(cause, signal);
    }
  }

  async #text(response: Response, signal: AbortSignal | undefined): Promise<string> {
    try {
      return await response.text();
    } catch (cause) {
      throw unanswered(cause, signal);
    }
  }
}

function unanswered(cause: unknown, signal: AbortSignal | undefined): StoaError {
  // A time limit is not a wish of the caller: it counts as no answer.
  const cancelled = signal?.aborted === true && (signal.reason as Error | undefined)?.name !== 'TimeoutError';
  return cancelled
    ? new StoaError('The call was cancelled.', { code: 'ABORTED', cause })
    : new StoaError('The server cannot be reached.', { code: 'NETWORK', cause });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
