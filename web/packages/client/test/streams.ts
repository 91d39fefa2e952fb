/** The server of the tests with the endpoint of realtime: each test writes the messages itself. */
import type { ServerResponse } from 'node:http';

import { type Client, type TokenStore, createClient, memoryTokens } from '../src/index.ts';
import { type Answer, type Handler, type Seen, type TestServer, serve } from './server.ts';

export const streamPath = '/_api/realtime/v1/stream';

export interface WireSubscription {
  readonly key: string;
  readonly dataCollectionId: string;
  readonly snapshot?: boolean;
  readonly resume?: string;
  readonly [member: string]: unknown;
}

/** A stream that a client opened. */
export interface TestStream {
  readonly seen: Seen;
  readonly subscriptions: readonly WireSubscription[];
  readonly isClosed: boolean;
  /** Sends a message. */
  send(name: string, data: object, id?: string): void;
  raw(text: string): void;
  /** Answers each subscription that asks for its items: `items`, then ready. */
  ready(items?: readonly object[], id?: string): void;
  end(): void;
  /** Cuts the connection in the middle. */
  cut(): void;
}

export interface StreamServer {
  readonly server: TestServer;
  readonly stoa: Client;
  readonly tokens: TokenStore;
  readonly streams: readonly TestStream[];
  /** Whether the subscriptions that come back missed nothing, which they are told at once. */
  tellsNothingMissed: boolean;
  /** The stream of this number, from 0, as soon as it is open. */
  stream(number: number): Promise<TestStream>;
}

/** @param refuse Answers in place of a stream; undefined opens one. */
export async function serveStreams(
  refuse: Handler = () => undefined,
  tokens: TokenStore = memoryTokens(),
): Promise<StreamServer> {
  const streams: TestStream[] = [];
  const server = await serve((seen) => {
    const answer = refuse(seen);
    if (answer !== undefined || seen.path !== streamPath) return answer;
    return {
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      write: (response) => {
        response.flushHeaders();
        const stream = new Stream(seen, response);
        for (const { key, resume } of stream.subscriptions) {
          if (resume !== undefined && world.tellsNothingMissed) stream.send('ready', { key }, resume);
        }
        streams.push(stream);
      },
    } satisfies Answer;
  });
  const world: StreamServer = {
    server,
    streams,
    tokens,
    tellsNothingMissed: true,
    stoa: createClient({ baseUrl: server.url, clientId: 'c1', tokens }),
    stream: (number) =>
      until(() => {
        const found = streams[number];
        if (found === undefined) throw new Error(`stream ${number} of ${streams.length}`);
        return found;
      }),
  };
  return world;
}

class Stream implements TestStream {
  readonly seen: Seen;
  isClosed = false;
  readonly #response: ServerResponse;

  constructor(seen: Seen, response: ServerResponse) {
    this.seen = seen;
    this.#response = response;
    response.on('close', () => (this.isClosed = true));
  }

  get subscriptions(): readonly WireSubscription[] {
    return this.seen.body['subscriptions'] as readonly WireSubscription[];
  }

  send(name: string, data: object, id?: string): void {
    this.raw(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  raw(text: string): void {
    this.#response.write(text);
  }

  ready(items: readonly object[] = [], id = 't1'): void {
    for (const { key } of this.subscriptions.filter((each) => each.snapshot === true)) {
      if (items.length > 0) this.send('snapshot', { key, items });
      this.send('ready', { key, total: items.length }, id);
    }
  }

  end(): void {
    this.isClosed = true;
    this.#response.end();
  }

  cut(): void {
    this.isClosed = true;
    this.#response.destroy();
  }
}

/** What `work` gives as soon as it does not throw; its error after ten seconds. Not by timers that a test may hold. */
export async function until<Value>(work: () => Value): Promise<Value> {
  const end = performance.now() + 10_000;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((done) => setImmediate(done));
    }
  }
}
