/** A small HTTP server for the tests: real sockets, answers chosen by each test, every request kept. */
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { onTestFinished } from 'vitest';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, or what `.r` held. */
  readonly body: Record<string, unknown>;
}

export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Writes the body piece by piece and ends it, in place of `body` and `text`. */
  readonly write?: (response: ServerResponse) => void;
}

export type Handler = (seen: Seen) => Answer | Promise<Answer> | undefined;

export interface TestServer {
  readonly url: string;
  readonly seen: Seen[];
  /** Requests to this path. */
  to(path: string): Seen[];
  /** Stops answering; happens by itself at the end of the test. */
  close(): Promise<void>;
}

/** Starts a server on a free port of loopback. `handler` answers; what it leaves is answered by {@link tokens}. */
export async function serve(handler: Handler = () => undefined): Promise<TestServer> {
  const seen: Seen[] = [];
  const grant = tokens();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://test');
      const packed = url.searchParams.get('.r');
      const text = packed === null ? Buffer.concat(chunks).toString() : Buffer.from(packed, 'base64url').toString();
      const entry: Seen = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
      seen.push(entry);
      void Promise.resolve(handler(entry) ?? grant(entry)).then((answer) => {
        response.writeHead(answer.status ?? 200, { 'x-wix-request-id': `r${seen.length}`, ...answer.headers });
        if (answer.write === undefined) response.end(answer.text ?? JSON.stringify(answer.body ?? {}));
        else answer.write(response);
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    to: (path) => seen.filter((each) => each.path === path),
    close,
  };
}

/** The token endpoint: numbered tokens, one hour. */
function tokens(): (seen: Seen) => Answer {
  let number = 0;
  return ({ path, body }) => {
    if (path !== '/oauth2/token') return { status: 404, body: { message: 'no such path' } };
    number += 1;
    const kind = body['grantType'] === 'authorization_code' ? 'member' : String(body['grantType']);
    return { body: { access_token: `${kind}-${number}`, refresh_token: `refresh-${number}`, expires_in: 3600 } };
  };
}

export const applicationError = (status: number, code: string, description: string): Answer => ({
  status,
  body: { message: description, details: { applicationError: { code, description, data: {} } } },
});
