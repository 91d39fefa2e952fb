/** A query on a collection: conditions, order, projection and window, built step by step and never changed. */
import { checkCollection, checkKeys, checkOptions } from './check.ts';
import { invalid } from './error.ts';
import type { WireFilter } from './filter.ts';
import type { WireSort } from './order.ts';
import { Page, type TurnOptions, type WirePage } from './page.ts';
import { Selection, type SelectionParts, type WirePaging } from './selection.ts';
import type { SubscribeOptions, Subscribed, Subscription, SubscriptionHandlers } from './subscription.ts';

/** Options of a call that reads. */
export interface ReadOptions {
  /** Read what is written now, never a copy that may lag behind. */
  readonly consistentRead?: boolean;
  /** Translate translatable fields: a language tag. */
  readonly language?: string;
  /** Also give drafts; editors, owners and apps only. */
  readonly showDrafts?: boolean;
  /** Skip permissions; owners and apps only, without effect for anybody else. */
  readonly suppressAuth?: boolean;
  /** Skip hooks; editors, owners and apps only. */
  readonly suppressHooks?: boolean;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/** Options of {@link Query.find}. */
export interface FindOptions extends ReadOptions {
  /** Also count all items that match; `totalCount` of the result. */
  readonly returnTotalCount?: boolean;
}

export const readOptionNames = [
  'consistentRead',
  'language',
  'showDrafts',
  'suppressAuth',
  'suppressHooks',
  'signal',
] as const;

/** The body of `POST /v2/items/query` (docs/protocol/content.md §3.8), but for the options of `find`. */
export interface WireQuery {
  readonly dataCollectionId: string;
  readonly query: {
    readonly fields: readonly string[];
    readonly filter: WireFilter;
    readonly sort: readonly WireSort[];
    readonly paging?: WirePaging;
  };
}

/** @internal Asks the server. */
export interface Ask {
  find(request: WireQuery, options: FindOptions): Promise<WirePage>;
  countMatching(collection: string, wire: WireFilter, options: ReadOptions): Promise<number>;
  subscribe<Item extends object>(
    subscribed: Subscribed,
    handlers: SubscriptionHandlers<Item>,
    options: SubscribeOptions,
  ): Subscription<Item>;
}

/** The server's page size when a query sets none. */
const defaultLimit = 50;
const handlerNames = ['onItems', 'onChange', 'onStatus'] as const;

/**
 * ```ts
 * const page = await stoa.items.query<City>('cities')
 *   .eq('country', 'FR')
 *   .ge('population', 100_000)
 *   .descending('population')
 *   .limit(20)
 *   .find({ returnTotalCount: true });
 * ```
 * A query is also an async iterable over all its items, page by page.
 */
export class Query<Item extends object = Record<string, unknown>> extends Selection<Item, Query<Item>> {
  readonly #ask: Ask;

  /** @internal Use `items.query`. */
  constructor(ask: Ask, parts: SelectionParts) {
    super(parts);
    this.#ask = ask;
  }

  /** @internal */
  static of<Item extends object>(ask: Ask, collection: string): Query<Item> {
    checkCollection(collection);
    return new Query<Item>(ask, { collection, filter: {}, sort: [], fields: [], limit: null, skip: 0 });
  }

  /** @internal */
  protected override but(change: Partial<SelectionParts>): Query<Item> {
    return new Query(this.#ask, { ...this.parts, ...change });
  }

  /** Asks the server for the page. */
  async find(options: FindOptions = {}): Promise<Page<Item>> {
    checkOptions(options, [...readOptionNames, 'returnTotalCount']);
    const answer = await this.#ask.find(this.toJSON(), options);
    const { limit, skip } = this.parts;
    return Page.first<Item>(answer, { limit, skip }, async (offset, size, later) => {
      const next = this.but({ skip: offset, limit: size });
      return this.#ask.find(next.toJSON(), laterOptions(options, later));
    });
  }

  /** How many items match, whatever limit and skip say. */
  async count(options: ReadOptions = {}): Promise<number> {
    checkOptions(options, readOptionNames);
    return this.#ask.countMatching(this.parts.collection, this.wire, options);
  }

  /**
   * The items that match, and every change of them as soon as it is made. The collection must have realtime on.
   *
   * All subscriptions of a client share one connection, which comes back by itself and then makes up for what it
   * missed. `limit` is how many items are held at most, 50 without it; `fields` are given together with those that
   * the order needs; filters reach no referenced items. Nothing is thrown for what the server refuses: the status
   * becomes `failed`, and {@link Subscription.error} says why, for example WDE0027 for a lack of permission.
   * @throws StoaError WDE0018 for an unknown option, a handler that is no function and for a query with `skip`;
   * `TOO_MANY_SUBSCRIPTIONS` when the client has 20 already.
   */
  subscribe(handlers: SubscriptionHandlers<Item> = {}, options: SubscribeOptions = {}): Subscription<Item> {
    checkKeys('subscribe', handlers, handlerNames);
    for (const name of handlerNames) {
      const given: unknown = handlers[name];
      if (given !== undefined && typeof given !== 'function') throw invalid('WDE0018', `${name} must be a function.`);
    }
    checkOptions(options, ['signal']);
    const { collection, filter, sort, fields, limit, skip } = this.parts;
    if (skip > 0) throw invalid('WDE0018', 'A query with skip cannot be subscribed to.');
    return this.#ask.subscribe({ collection, filter, sort, fields, limit: limit ?? defaultLimit }, handlers, options);
  }

  /** Every item that matches, from `skip` on; further pages are asked for as they are needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this.find();
  }

  /** The request as the server reads it. */
  toJSON(): WireQuery {
    const { collection, filter, sort, fields } = this.parts;
    return { dataCollectionId: collection, query: { fields, filter, sort, ...this.paging } };
  }
}

/**
 * @internal Options of the pages after the first: the count is asked for once and carried along, a signal is for one
 * call.
 */
export function laterOptions(first: FindOptions, turn: TurnOptions): FindOptions {
  const kept = Object.entries(first).filter(([name]) => name !== 'returnTotalCount' && name !== 'signal');
  return { ...(Object.fromEntries(kept) as FindOptions), ...turn };
}
