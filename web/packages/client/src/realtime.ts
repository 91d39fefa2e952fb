/**
 * The one stream of a client, which all its subscriptions share: browsers allow six connections to a host, and another
 * set of subscriptions is another request anyway.
 *
 * Each subscription remembers where it stands (the id of its last message). A stream that ends, or that is left because
 * a subscription came or went, is followed by another one that goes on from there, so nothing is lost or told twice.
 */
import { StoaError, invalid, record } from './error.ts';
import { decode } from './json.ts';
import type { Session } from './session.ts';
import { EventParser, type ServerEvent } from './sse.ts';
import {
  type SubscribeOptions,
  type Subscribed,
  Subscription,
  type SubscriptionHandlers,
  type WireChange,
} from './subscription.ts';
import { isHidden, watchSurroundings } from './surroundings.ts';

const path = '/_api/realtime/v1/stream';
/** The server's limit. */
const mostSubscriptions = 20;
/** The server sends something every 20 s. After this long without a byte the connection is taken for dead. */
const silenceMs = 45_000;
/** Subscriptions that come together share one request. */
const gatherMs = 10;
/** What the server still tells of subscriptions that went is ignored, so leaving it takes no hurry. */
const leaveMs = 1000;
/** How long a page stays connected while nobody looks: tabs share the browser's six connections to a host. */
const hiddenMs = 60_000;
/** Waiting times double from the first to the last. */
const retry = { first: 1000, last: 30_000 };
const question = { first: 250, last: 30_000 };
/** A stream that held this long counts as one that works, and items that weren't asked for again as long as settled. */
const settledMs = 30_000;
/** A server that says goodbye sooner than this is asked again as one that fails. */
const shortestMs = 1000;
/** The longest that a server may send a client away for. */
const longestWaitMs = 10 * 60_000;

// A stream deals with items of many types and looks into none of them.
type Any = Subscription<object>;

/** How a stream ended. */
interface End {
  /** The next is opened no sooner. */
  readonly atLeastMs: number;
  /** The server ended it on purpose and said when to come back. */
  readonly isGoodbye: boolean;
}

const broken: End = { atLeastMs: 0, isGoodbye: false };

export class Realtime {
  readonly #session: Session;
  readonly #subscriptions = new Map<string, Any>();
  #keys = 0;
  /** The stream that is open or being opened. */
  #stream: AbortController | null = null;
  /** When the next one is opened. */
  #next: { readonly timer: ReturnType<typeof setTimeout>; readonly at: number } | null = null;
  /** Streams that ended in a row without having worked. */
  #failures = 0;
  /** When the last byte came, or the request was sent; milliseconds. */
  #heardAt = 0;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  /** Nobody has looked at the page for a while. */
  #isAsleep = false;
  /** Whether the items are a member's. */
  #isMember = false;
  #stopWatching: (() => void) | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  subscribe<Item extends object>(
    subscribed: Subscribed,
    handlers: SubscriptionHandlers<Item>,
    options: SubscribeOptions,
  ): Subscription<Item> {
    if (this.#subscriptions.size >= mostSubscriptions) {
      throw invalid('TOO_MANY_SUBSCRIPTIONS', `A client has at most ${mostSubscriptions} subscriptions.`);
    }
    this.#keys += 1;
    const key = `s${this.#keys}`;
    const subscription = new Subscription<Item>(key, subscribed, handlers, options, () => this.#remove(key));
    if (options.signal?.aborted === true) {
      subscription.close();
      return subscription;
    }
    this.#subscriptions.set(key, subscription as unknown as Any);
    this.#stopWatching ??= this.#watch();
    if (this.#isAsleep) subscription.setStatus('waiting');
    else this.#openIn(gatherMs);
    return subscription;
  }

  #remove(key: string): void {
    this.#drop(key);
    if (this.#stream !== null) this.#openIn(leaveMs);
  }

  #drop(key: string): void {
    if (!this.#subscriptions.delete(key) || this.#subscriptions.size > 0) return;
    this.#leave();
    this.#stopWatching?.();
    this.#stopWatching = null;
    this.#failures = 0;
  }

  /** Opens a stream after so many milliseconds, in place of the one there is; sooner when that was decided already. */
  #openIn(ms: number): void {
    if (this.#subscriptions.size === 0) return;
    const at = Date.now() + ms;
    if (this.#next !== null && this.#next.at <= at) return;
    clearTimeout(this.#next?.timer);
    this.#next = { at, timer: setTimeout(() => this.#open(), ms) };
  }

  #open(): void {
    this.#leave();
    const stream = new AbortController();
    this.#stream = stream;
    const openedAt = Date.now();
    void this.#follow(stream).then((end) => {
      if (this.#stream !== stream) return;
      const next = this.#next;
      const wait = this.#waitAfter(end, Date.now() - openedAt);
      this.#leave();
      this.#setWaiting();
      // A subscription that came meanwhile does not wait for what failed before it.
      this.#openIn(next === null ? wait : Math.min(wait, Math.max(0, next.at - Date.now())));
    });
  }

  /** Milliseconds until the next stream is opened, after one that lasted for `lasted` of them. */
  #waitAfter({ atLeastMs, isGoodbye }: End, lasted: number): number {
    if (lasted > settledMs) this.#failures = 0;
    if (isGoodbye && lasted > shortestMs) return atLeastMs;
    const pause = jittered(retry, this.#failures);
    this.#failures += 1;
    return Math.max(pause, atLeastMs);
  }

  /** Ends the stream, and what was to come after it. */
  #leave(): void {
    clearTimeout(this.#next?.timer);
    this.#next = null;
    const stream = this.#stream;
    this.#stream = null;
    stream?.abort();
  }

  #setWaiting(): void {
    for (const each of [...this.#subscriptions.values()]) each.setStatus('waiting');
  }

  /** Reads a stream to its end. What it gives counts only while it is the one to be read. */
  async #follow(stream: AbortController): Promise<End> {
    const asked = [...this.#subscriptions.values()];
    const silence = this.#watchSilence(stream);
    try {
      const body = { subscriptions: asked.map((each) => each.toWire()) };
      const bytes = await this.#session.open({ method: 'POST', path, body, read: false, signal: stream.signal });
      if (this.#stream !== stream) return broken;
      return await this.#read(bytes, stream, silence.heard);
    } catch (error) {
      return this.#stream === stream ? this.#failed(error, asked) : broken;
    } finally {
      silence.stop();
    }
  }

  async #read(bytes: ReadableStream<Uint8Array>, stream: AbortController, heard: () => void): Promise<End> {
    const reader = bytes.getReader();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#stream !== stream) return broken;
      heard();
      try {
        for (const event of parser.push(value)) {
          if (event.name === 'bye') return goodbye(event);
          this.#take(event);
          // A handler closed the last subscription, or signed out.
          if (this.#stream !== stream) return broken;
        }
      } finally {
        // Also of what stood before a goodbye, or before what could not be read.
        for (const each of [...this.#subscriptions.values()]) each.tellItems();
      }
    }
  }

  #take(event: ServerEvent): void {
    // A sign of life with a place: nothing was told for a while.
    if (event.data === '') return this.#takePlace(event.id);
    const message = record(parsed(event.data));
    const subscription = this.#subscriptions.get(String(message['key']));
    if (subscription === undefined) return;
    if (event.name === 'snapshot') subscription.takeItems(itemsOf(message['items']));
    else if (event.name === 'ready') {
      subscription.takeReady(event.id);
      this.#fill(subscription);
    } else if (event.name === 'change') {
      subscription.takeChange(readChange(message));
      // Only what happens has a place: what was missed has the one at its end.
      if (subscription.isReady) this.#takePlace(event.id);
      this.#fill(subscription);
    } else if (event.name === 'resync') this.#askAgain(subscription);
    else if (event.name === 'failed') {
      this.#drop(subscription.key);
      subscription.fail(new StoaError(String(message['description']), { code: String(message['code']), status: 200 }));
    }
  }

  /** The stream has told all of its subscriptions everything up to here. */
  #takePlace(id: string | null): void {
    if (id === null) return;
    for (const each of this.#subscriptions.values()) if (each.isReady) each.takePlace(id);
  }

  /** Asks for the items of a subscription that has become short of some. */
  #fill(subscription: Any): void {
    if (subscription.isReady && subscription.isShort && !subscription.isOver) this.#askAgain(subscription);
  }

  /** Asks for the items themselves, the more slowly the more often; those that are there stay until the others are. */
  #askAgain(subscription: Any): void {
    const now = Date.now();
    const { at, count } = subscription.questions;
    const again = now - at < settledMs ? count + 1 : 0;
    subscription.questions = { at: now, count: again };
    subscription.ask();
    this.#openIn(jittered(question, again));
  }

  /** What a stream that could not be opened, or broke, means for those who asked for it. */
  #failed(error: unknown, asked: readonly Any[]): End {
    if (!(error instanceof StoaError)) return broken;
    if (!isFinal(error)) return { ...broken, atLeastMs: Math.min(error.retryAfterMs ?? 0, longestWaitMs) };
    const isNamed = (at: number) => error.violations.some(({ field }) => field.startsWith(`subscriptions[${at}]`));
    const named = asked.filter((_, at) => isNamed(at));
    // The others were refused only for being in the same request.
    for (const each of named.length > 0 ? named : asked) {
      this.#drop(each.key);
      each.fail(error);
    }
    return broken;
  }

  #watchSilence(stream: AbortController): { heard(): void; stop(): void } {
    const end = () => stream.abort(new DOMException('Nothing was heard.', 'TimeoutError'));
    let timer = setTimeout(end, silenceMs);
    this.#heardAt = Date.now();
    return {
      heard: () => {
        this.#heardAt = Date.now();
        clearTimeout(timer);
        timer = setTimeout(end, silenceMs);
      },
      stop: () => clearTimeout(timer),
    };
  }

  #watch(): () => void {
    const stops = [
      this.#session.subscribe(() => this.#onTokens()),
      watchSurroundings({
        onReturn: () => this.#onReturn(),
        onOffline: () => this.#onOffline(),
        onHidden: () => this.#onHidden(),
      }),
    ];
    this.#isMember = this.#session.loggedIn;
    if (isHidden()) this.#onHidden();
    return () => {
      for (const stop of stops) stop();
      this.#wake();
    };
  }

  /** Somebody signed in or out: nothing that the one before saw may stay. */
  #onTokens(): void {
    if (this.#session.loggedIn === this.#isMember) return;
    this.#isMember = this.#session.loggedIn;
    this.#leave();
    for (const each of [...this.#subscriptions.values()]) each.forgetItems();
    if (!this.#isAsleep) this.#openIn(gatherMs);
  }

  #onReturn(): void {
    this.#wake();
    // Timers stood still while the machine slept.
    if (this.#stream !== null && Date.now() - this.#heardAt <= silenceMs) return;
    this.#setWaiting();
    this.#openIn(0);
  }

  #onOffline(): void {
    if (this.#stream === null) return;
    this.#leave();
    this.#setWaiting();
    // A server on this machine answers all the same, and not every system says when it is connected again.
    this.#openIn(this.#waitAfter(broken, 0));
  }

  #onHidden(): void {
    this.#hiding ??= setTimeout(() => {
      this.#isAsleep = true;
      this.#leave();
      this.#setWaiting();
    }, hiddenMs);
  }

  #wake(): void {
    clearTimeout(this.#hiding);
    this.#hiding = undefined;
    this.#isAsleep = false;
  }
}

/** Between a half and the whole of `first` doubled so often, so that clients who were cut off together come back apart. */
function jittered({ first, last }: typeof retry, times: number): number {
  return Math.min(last, first * 2 ** times) * (0.5 + Math.random() / 2);
}

/** The server will refuse the same request again. */
function isFinal({ status }: StoaError): boolean {
  return status >= 400 && status < 500 && ![401, 408, 425, 429].includes(status);
}

function goodbye({ data }: ServerEvent): End {
  const ms = record(parsed(data))['reconnectMs'];
  return typeof ms === 'number' && ms >= 0 ? { atLeastMs: Math.min(ms, longestWaitMs), isGoodbye: true } : broken;
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (cause) {
    throw new StoaError('The server sent an event that is not JSON.', { code: 'UNREADABLE', status: 200, cause });
  }
}

function readChange(message: Record<string, unknown>): WireChange {
  const { type, id, sequence, item, modifiedFields, deleted } = message;
  const isLeave = type === 'leave';
  const isKnown = isLeave || type === 'enter' || type === 'update';
  if (!isKnown || typeof id !== 'string' || (!isLeave && (typeof item !== 'object' || item === null))) {
    throw new StoaError('The server sent a change that cannot be read.', { code: 'UNREADABLE', status: 200 });
  }
  return {
    type,
    id,
    sequence: typeof sequence === 'string' && /^\d+$/.test(sequence) ? BigInt(sequence) : null,
    item: isLeave ? null : record(decode(item)),
    modifiedFields: Array.isArray(modifiedFields) ? modifiedFields.map(String) : [],
    deleted: deleted === true,
  };
}

const itemsOf = (list: unknown): object[] => (Array.isArray(list) ? list.map((each) => record(decode(each))) : []);
