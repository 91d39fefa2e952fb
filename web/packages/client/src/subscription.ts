/** What a query answers, kept up to date by the server. */
import type { StoaError } from './error.ts';
import { type WireSort, newestFirst } from './order.ts';
import { Window } from './window.ts';

/** Items of which the newest change is remembered, those that changed last. */
const mostRemembered = 10_000;

/**
 * - `connecting`: the items are asked for, for the first time or again because the server could not tell what changed;
 * - `live`: a change arrives as soon as it is made;
 * - `waiting`: the server is out of reach, or the page was hidden for a minute; the items are those from before. It is
 *   tried again by itself, and what changed meanwhile is made up for;
 * - `failed`: the server refuses; see {@link Subscription.error}. It is not tried again;
 * - `closed`: by {@link Subscription.close} or the signal.
 */
export type SubscriptionStatus = 'connecting' | 'live' | 'waiting' | 'failed' | 'closed';

/** One change of what matches. */
export interface Change<Item extends object> {
  /** `enter`: an item matches that did not; `update`: it still does; `leave`: it does not match any longer. */
  readonly type: 'enter' | 'update' | 'leave';
  readonly id: string;
  /** The item as it is now; null when it left. */
  readonly item: Item | null;
  /** The item as it was known here; null when it was not, for example because it stood beyond the limit. */
  readonly previous: Item | null;
  /** The names of the fields that changed, where the server tells. */
  readonly modifiedFields: readonly string[];
  /** Whether it left because it was removed, as far as the caller may know. */
  readonly deleted: boolean;
}

/** What to call when something happens. A call that throws is reported like any uncaught error and stops nothing. */
export interface SubscriptionHandlers<Item extends object> {
  /** With all items, after each change of them; once for changes that arrive together, and for all that a pause missed. */
  readonly onItems?: (items: readonly Item[]) => void;
  /** For each change on its own, in order. Not for the items that are there at the beginning, or when asked again. */
  readonly onChange?: (change: Change<Item>) => void;
  /** After each change of the status. `error` is null unless that is `failed`. */
  readonly onStatus?: (status: SubscriptionStatus, error: StoaError | null) => void;
}

/** Options of {@link Query.subscribe}. */
export interface SubscribeOptions {
  /** Closes the subscription. */
  readonly signal?: AbortSignal;
}

/**
 * How far a stream is with a subscription: its items are asked for, so changes of those from before count for nothing;
 * what it missed is told, which counts once all of it is there, because it is told from its beginning after a break; what
 * happens is told.
 */
type Stage = 'asking' | 'resuming' | 'ready';

/** @internal What is subscribed to, in wire form. */
export interface Subscribed {
  readonly collection: string;
  readonly filter: object;
  readonly fields: readonly string[];
  readonly sort: readonly WireSort[];
  readonly limit: number;
}

/** @internal A message of the server about one subscription. */
export interface WireChange {
  readonly type: Change<object>['type'];
  readonly id: string;
  /** Of two changes of one item the later has the higher one; null when the server did not tell. */
  readonly sequence: bigint | null;
  readonly item: object | null;
  readonly modifiedFields: readonly string[];
  readonly deleted: boolean;
}

/**
 * The items that match a query, in its order, as they are now.
 *
 * ```ts
 * const visits = stoa.items.query<Visit>('journal').descending('visitedOn').subscribe({
 *   onItems: (items) => draw(items),
 *   onStatus: (status, error) => show(status, error?.message),
 * });
 * // later
 * visits.close();
 * ```
 */
export class Subscription<Item extends object = Record<string, unknown>> {
  /** @internal Names it in the stream. */
  readonly key: string;
  /** Where the stream goes on for it; null when its items must be asked for. */
  #resume: string | null = null;
  #stage: Stage = 'asking';
  /** @internal When its items were last asked for again, and how often shortly after one another. */
  questions = { at: 0, count: 0 };
  readonly #subscribed: Subscribed;
  readonly #handlers: SubscriptionHandlers<Item>;
  readonly #onClose: (subscription: Subscription<Item>) => void;
  readonly #forget: () => void;
  readonly #window: Window;
  #status: SubscriptionStatus = 'connecting';
  #error: StoaError | null = null;
  /** Items of the answer that is arriving. */
  #arriving: object[] = [];
  /** Changes of a pause that are arriving. */
  #missed: WireChange[] = [];
  #told: readonly object[];
  /** The sequence of the newest change of an item. Those of items that changed longest ago come first. */
  readonly #newest = new Map<string, bigint>();

  /** @internal Use `query.subscribe`. */
  constructor(
    key: string,
    subscribed: Subscribed,
    handlers: SubscriptionHandlers<Item>,
    options: SubscribeOptions,
    onClose: (subscription: Subscription<Item>) => void,
  ) {
    this.key = key;
    this.#subscribed = subscribed;
    this.#handlers = handlers;
    this.#onClose = onClose;
    this.#window = new Window(subscribed.limit, this.#order);
    this.#told = this.#window.items;
    const close = () => this.close();
    options.signal?.addEventListener('abort', close);
    this.#forget = () => options.signal?.removeEventListener('abort', close);
  }

  /** The items in order, at most as many as the query's limit. The same array until something changes. */
  get items(): readonly Item[] {
    // What an item looks like is the caller's knowledge, as in a page.
    return this.#window.items as readonly Item[];
  }

  /** Whether more items match than the limit lets {@link items} hold. */
  get hasMore(): boolean {
    return this.#window.hasMore;
  }

  get status(): SubscriptionStatus {
    return this.#status;
  }

  /** Why the server refuses; null unless the status is `failed`. */
  get error(): StoaError | null {
    return this.#error;
  }

  /** Ends the subscription; no handler is called any more. The items stay as they are. */
  close(): void {
    if (this.isOver) return;
    this.#status = 'closed';
    this.#forget();
    this.#onClose(this);
  }

  /** @internal */
  get isOver(): boolean {
    return this.#status === 'failed' || this.#status === 'closed';
  }

  /** @internal Whether items are missing that only the server knows. */
  get isShort(): boolean {
    return this.#window.isShort;
  }

  /** @internal The subscription in the body of the next request. */
  toWire(): object {
    this.#arriving = [];
    this.#missed = [];
    this.#stage = this.#resume === null ? 'asking' : 'resuming';
    const { collection, filter } = this.#subscribed;
    return {
      key: this.key,
      dataCollectionId: collection,
      filter,
      ...(this.#fields.length === 0 ? {} : { fields: this.#fields }),
      ...(this.#resume !== null
        ? { resume: this.#resume }
        : { snapshot: true, limit: this.#window.asked, sort: this.#order }),
    };
  }

  /** @internal A piece of the answer; shown when all of it is there. */
  takeItems(items: readonly object[]): void {
    for (const item of items) this.#arriving.push(item);
  }

  /** @internal All is told as of this id; the answer is complete. */
  takeReady(id: string | null): void {
    if (this.#stage === 'asking') this.#window.replace(this.#arriving);
    this.#arriving = [];
    this.#stage = 'ready';
    this.#resume = id ?? this.#resume;
    for (const change of this.#missed.splice(0)) this.takeChange(change);
    // A handler may have signed out.
    if (this.isReady) this.setStatus('live');
  }

  /** @internal Whether what the stream tells goes on from what is known here. */
  get isReady(): boolean {
    return this.#stage === 'ready';
  }

  /** @internal All that came before this id is told. */
  takePlace(id: string): void {
    this.#resume = id;
  }

  /** @internal */
  takeChange(change: WireChange): void {
    if (this.isOver) return;
    if (this.#stage === 'resuming') this.#missed.push(change);
    // Else it belongs to items that are being replaced.
    else if (this.#stage === 'ready') this.#apply(change);
  }

  #apply({ type, id, sequence, item, modifiedFields, deleted }: WireChange): void {
    if (sequence !== null && !this.#isNews(id, sequence)) return;
    const previous = this.#window.get(id) as Item | null;
    if (item === null) this.#window.remove(id);
    else this.#window.put(item);
    this.#call(this.#handlers.onChange, { type, id, item: item as Item | null, previous, modifiedFields, deleted });
  }

  /** @internal From now on its items must be asked for. */
  ask(): void {
    this.#resume = null;
    this.#stage = 'asking';
    this.setStatus('connecting');
  }

  /** @internal Nothing is known any more: the items are another caller's. */
  forgetItems(): void {
    this.ask();
    this.#window.replace([]);
    this.tellItems();
  }

  /** @internal Calls the handler of items when these are other ones than it saw before. */
  tellItems(): void {
    const items = this.#window.items;
    if (items === this.#told || this.isOver) return;
    this.#told = items;
    this.#call(this.#handlers.onItems, items as readonly Item[]);
  }

  /** @internal */
  setStatus(status: Exclude<SubscriptionStatus, 'failed' | 'closed'>): void {
    if (this.isOver || this.#status === status) return;
    this.#status = status;
    this.#call(this.#handlers.onStatus, status, null);
  }

  /** @internal */
  fail(error: StoaError): void {
    if (this.isOver) return;
    this.#status = 'failed';
    this.#error = error;
    this.#forget();
    this.#call(this.#handlers.onStatus, 'failed', error);
  }

  /** Whether nothing that happened to the item later was told before: a removal and what precedes it may change places. */
  #isNews(id: string, sequence: bigint): boolean {
    const before = this.#newest.get(id);
    if (before !== undefined && sequence < before) return false;
    this.#newest.delete(id);
    this.#newest.set(id, sequence);
    if (this.#newest.size > mostRemembered) {
      for (const oldest of this.#newest.keys()) {
        this.#newest.delete(oldest);
        break;
      }
    }
    return true;
  }

  get #order(): readonly WireSort[] {
    return this.#subscribed.sort.length === 0 ? newestFirst : this.#subscribed.sort;
  }

  /** What was asked for, and the fields that the order needs. */
  get #fields(): readonly string[] {
    const { fields } = this.#subscribed;
    return fields.length === 0 ? fields : [...new Set([...fields, ...this.#order.map((each) => each.fieldName)])];
  }

  #call<Given extends unknown[]>(handler: ((...given: Given) => void) | undefined, ...given: Given): void {
    if (this.#status === 'closed') return;
    try {
      handler?.(...given);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
