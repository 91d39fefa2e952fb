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

const eventStream = 'text/event-stream';
const requestIdHeader = 'x-wix-request-id';

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
    const response = await this.#ask(exchange, 'application/json');
    this.#consistent = response.headers.get('x-wix-consistent') ?? this.#consistent;
    const body = await this.#read(response, exchange.signal);
    if (body === undefined) {
      throw new StoaError('The server answered with something that is not JSON.', {
        code: 'UNREADABLE',
        status: response.status,
        requestId: response.headers.get(requestIdHeader),
      });
    }
    return body;
  }

  /** Gives the body of a success (2xx) of the type `text/event-stream`, to be read as it arrives. */
  async open(exchange: Exchange): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const response = await this.#ask(exchange, eventStream);
    if (response.ok && response.body !== null && response.headers.get('content-type')?.startsWith(eventStream)) {
      return response.body;
    }
    if (!response.ok) await this.#read(response, exchange.signal);
    await response.body?.cancel();
    throw new StoaError('The server answered with something that is no stream.', {
      code: 'UNREADABLE',
      status: response.status,
      requestId: response.headers.get(requestIdHeader),
    });
  }

  /** The parsed body, undefined when it is not JSON. Throws for an answer that is no success. */
  async #read(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
    const { status, statusText, headers } = response;
    const body = parse(await this.#text(response, signal));
    if (response.ok) return body;
    throw errorFromAnswer(
      { status, reason: statusText, requestId: headers.get(requestIdHeader), retryAfterMs: retryAfter(headers) },
      body,
    );
  }

  async #ask({ method, path, body, authorization, signal }: Exchange, accept: string): Promise<Response> {
    const headers: Record<string, string> = { accept };
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

/** `Retry-After` in milliseconds, when it is given in seconds. */
function retryAfter(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) * 1000 : null;
}
