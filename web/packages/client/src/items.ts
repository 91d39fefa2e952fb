/** Items of collections (docs/protocol/content.md §3). */
import { base64url } from './base64url.ts';
import { checkCollection, checkItem, checkItemId, checkOptions } from './check.ts';
import { StoaError, invalid, record } from './error.ts';
import { type Filter, type WireFilter, filter } from './filter.ts';
import { foundOf } from './found.ts';
import { decode, encode } from './json.ts';
import type { WirePage } from './page.ts';
import type { Stage } from './pipeline.ts';
import { type Ask, type FindOptions, Query, type ReadOptions, type WireQuery, readOptionNames } from './query.ts';
import type { Realtime } from './realtime.ts';
import { type AskSearch, Search, type SearchWords, type WireSearch } from './search.ts';
import type { Session } from './session.ts';
import type { SubscribeOptions, Subscribed, Subscription, SubscriptionHandlers } from './subscription.ts';

/** What the server adds to every item. */
export interface System {
  readonly _id: string;
  readonly _createdDate: Date;
  readonly _updatedDate: Date;
  /** Id of the visitor, member, person or app that wrote the item. */
  readonly _owner: string;
}

/** Options of a call that writes. */
export type WriteOptions = Pick<ReadOptions, 'showDrafts' | 'suppressAuth' | 'suppressHooks' | 'signal'>;

const writeOptionNames = ['showDrafts', 'suppressAuth', 'suppressHooks', 'signal'] as const;
const notFound = 'WDE0073';
/**
 * A query whose path is at most this long travels as GET, so that caches can hold it
 * (docs/protocol/content.md §1.5).
 */
const longestGet = 2048;

export class Items implements Ask, AskSearch {
  readonly #session: Session;
  readonly #realtime: Realtime;

  /** @internal */
  constructor(session: Session, realtime: Realtime) {
    this.#session = session;
    this.#realtime = realtime;
  }

  /** Begins a query; see {@link Query}. `Item` is what you know of the collection's items; nothing checks it. */
  query<Item extends object = Record<string, unknown>>(collection: string): Query<Item & System> {
    return Query.of<Item & System>(this, collection);
  }

  /**
   * Begins a search for words; see {@link Search}. At most 100 characters and 16 words.
   * @param expression What a person types: `'sao paulo'`; `'muen*'`.
   */
  search<Item extends object = Record<string, unknown>>(
    collection: string,
    expression: string,
    words: SearchWords = {},
  ): Search<Item & System> {
    return Search.of<Item & System>(this, collection, expression, words);
  }

  /**
   * Whether searches of the site find everything that was written before. An index follows what is written, as a rule
   * within a second; a new one takes longer.
   */
  async searchIsCurrent(options: Pick<ReadOptions, 'signal'> = {}): Promise<boolean> {
    checkOptions(options, ['signal']);
    const call = { method: 'GET', path: '/_api/search/v1/lag', read: true, signal: options.signal } as const;
    return record(await this.#session.call(call))['isCurrent'] === true;
  }

  /**
   * The results of a pipeline, at most 10,000. What stands in `Result` is your knowledge; nothing checks it. The keys of
   * a group are members of the result's `_id`.
   */
  async pipeline<Result extends object = Record<string, unknown>>(
    collection: string,
    stages: readonly Stage[],
    options: Pick<ReadOptions, 'consistentRead' | 'signal'> = {},
  ): Promise<readonly Result[]> {
    checkCollection(collection);
    if (!Array.isArray(stages)) throw invalid('WDE0080', 'The stages of a pipeline are an array.');
    checkOptions(options, ['consistentRead', 'signal']);
    const body = { dataCollectionId: collection, pipeline: { stages: encode(stages) }, ...wireOptions(options) };
    const answer = record(await this.#post('/v2/items/aggregate-pipeline', body, true, options.signal));
    const results = answer['results'];
    return Array.isArray(results) ? results.map((each) => decode(each) as Result) : [];
  }

  /** The item, or null when there is none that the caller may know of. */
  async get<Item extends object = Record<string, unknown>>(
    collection: string,
    id: string,
    options: ReadOptions = {},
  ): Promise<(Item & System) | null> {
    checkCollection(collection);
    checkItemId(id);
    checkOptions(options, readOptionNames);
    const members = { dataCollectionId: collection, dataItemId: id, ...wireOptions(options) };
    const query = Object.values(members).some((value) => typeof value === 'object')
      ? `.r=${packed(members)}`
      : new URLSearchParams(Object.entries(members).map(([key, value]) => [key, String(value)])).toString();
    return orNull(async () => {
      const path = `/v2/items/${encodeURIComponent(id)}?${query}`;
      const answer = await this.#session.call({ method: 'GET', path, read: true, signal: options.signal });
      return unwrap<Item>(record(answer)['dataItem']);
    });
  }

  /** Adds the item; the server gives an `_id` when it has none. Gives the item as stored. */
  async insert<Item extends object>(
    collection: string,
    item: Item,
    options: WriteOptions = {},
  ): Promise<Item & System> {
    return this.#write('/v2/items', collection, item, options);
  }

  /**
   * Puts the item in the place of the stored one with the same `_id`: fields that are left out are gone.
   * @throws StoaError WDE0073 when there is none that the caller may change.
   */
  async update<Item extends object & { readonly _id: string }>(
    collection: string,
    item: Item,
    options: WriteOptions = {},
  ): Promise<Item & System> {
    checkItem(item);
    if (item._id === undefined) throw invalid('WDE0007', 'update needs an item with an _id.');
    return this.#write('/v2/items/update', collection, item, options);
  }

  /** Removes the item and gives what was removed, or null when there was none that the caller may remove. */
  async remove<Item extends object = Record<string, unknown>>(
    collection: string,
    id: string,
    options: WriteOptions = {},
  ): Promise<(Item & System) | null> {
    checkCollection(collection);
    checkItemId(id);
    checkOptions(options, writeOptionNames);
    return orNull(async () => {
      const body = { dataCollectionId: collection, dataItemId: id, ...wireOptions(options) };
      return unwrap<Item>(record(await this.#post('/v2/items/remove', body, false, options.signal))['dataItem']);
    });
  }

  /**
   * How many items of the collection match; all of them without a filter.
   * @param matching A {@link Filter}; `filter().eq('country', 'FR')`.
   */
  async count(
    collection: string,
    matching: Pick<Filter<never>, 'wire'> = filter(),
    options: ReadOptions = {},
  ): Promise<number> {
    checkCollection(collection);
    checkOptions(options, readOptionNames);
    return this.countMatching(collection, matching.wire, options);
  }

  /** @internal */
  async countMatching(collection: string, wire: WireFilter, options: ReadOptions): Promise<number> {
    const body = { dataCollectionId: collection, filter: wire, ...wireOptions(options) };
    return Number(record(await this.#post('/v2/items/count', body, true, options.signal))['totalCount']);
  }

  /** @internal */
  async find(request: WireQuery, options: FindOptions): Promise<WirePage> {
    const body = { ...request, ...wireOptions(options) };
    const short = `/v2/items/query?.r=${packed(body)}`;
    const answer = record(
      short.length <= longestGet
        ? await this.#session.call({ method: 'GET', path: short, read: true, signal: options.signal })
        : await this.#post('/v2/items/query', body, true, options.signal),
    );
    return pageOf(answer);
  }

  /** @internal */
  async findWords(request: WireSearch, options: ReadOptions): Promise<WirePage> {
    const body = { ...request, ...wireOptions(options) };
    const answer = record(await this.#post('/v2/items/search', body, true, options.signal));
    return { ...pageOf(answer), found: foundOf(answer, request.search.highlight !== undefined) };
  }

  /** @internal */
  subscribe<Item extends object>(
    subscribed: Subscribed,
    handlers: SubscriptionHandlers<Item>,
    options: SubscribeOptions,
  ): Subscription<Item> {
    return this.#realtime.subscribe(subscribed, handlers, options);
  }

  async #write<Item extends object>(
    path: string,
    collection: string,
    item: Item,
    options: WriteOptions,
  ): Promise<Item & System> {
    checkCollection(collection);
    checkItem(item);
    checkOptions(options, writeOptionNames);
    const id = (item as { readonly _id?: string })._id;
    const body = {
      dataCollectionId: collection,
      dataItem: { ...(id === undefined ? {} : { id }), data: encode(item) },
      ...wireOptions(options),
    };
    const stored = unwrap<Item>(record(await this.#post(path, body, false, options.signal))['dataItem']);
    if (stored === null) {
      throw new StoaError('The server did not give the stored item.', { code: 'UNREADABLE', status: 200 });
    }
    return stored;
  }

  #post(path: string, body: object, read: boolean, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#session.call({ method: 'POST', path, body, read, signal });
  }
}

/**
 * Options as members of a request (docs/protocol/content.md §3.0). `false` is the default everywhere and is left
 * out.
 */
function wireOptions(options: FindOptions): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === false || name === 'signal') continue;
    if (name === 'showDrafts') members['publishPluginOptions'] = { includeDraftItems: true };
    else members[name] = value;
  }
  return members;
}

function pageOf(answer: Record<string, unknown>): WirePage {
  const list = answer['dataItems'];
  const paging = record(answer['pagingMetadata']);
  const total = paging['total'];
  return {
    items: Array.isArray(list) ? list.map((each) => record(decode(record(each)['data']))) : [],
    total: typeof total === 'number' ? total : null,
    hasNext: paging['hasNext'] === true,
  };
}

function packed(value: object): string {
  return base64url(new TextEncoder().encode(JSON.stringify(value)));
}

/** The item inside its wrapper `{id, dataCollectionId, data}`. */
function unwrap<Item extends object>(wrapper: unknown): (Item & System) | null {
  const data = record(wrapper)['data'];
  return data === undefined || data === null ? null : (decode(data) as Item & System);
}

async function orNull<Value>(work: () => Promise<Value | null>): Promise<Value | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoaError && error.code === notFound) return null;
    throw error;
  }
}
