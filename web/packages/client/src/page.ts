/** One page of a query's result and the way to the others. */
import { invalid } from './error.ts';
import type { FieldHighlight, Suggestions, WireFound } from './found.ts';

/** @internal An answer to a query, items unwrapped. */
export interface WirePage {
  readonly items: readonly object[];
  readonly total: number | null;
  readonly hasNext: boolean;
  /** Of a search. */
  readonly found?: WireFound;
}

/** Options of {@link Page.next} and {@link Page.prev}. */
export interface TurnOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

type Fetch = (offset: number, limit: number, options: TurnOptions) => Promise<WirePage>;

/** The server's page size when a query sets none. */
const defaultSize = 50;

/** A page never changes; {@link next} and {@link prev} give other pages. */
export class Page<Item extends object> implements AsyncIterable<Item> {
  /** The items of this page, in order. */
  readonly items: readonly Item[];
  /** How many items match in all, when `find` was asked to count. The number of the first page is carried along. */
  readonly totalCount: number | undefined;
  /** Items on a full page. */
  readonly pageSize: number;
  /** Where the page begins among all items, from 0. */
  readonly offset: number;
  /** Whether items follow. */
  readonly hasNext: boolean;
  /** What answers in each of the items, in their order, if a search was asked for it. */
  readonly highlights: readonly (readonly FieldHighlight[])[] | undefined;
  /** Words that may be meant, if a search was asked for them and this caller may be told. */
  readonly suggestions: Suggestions | undefined;
  readonly #fetch: Fetch;

  private constructor(answer: WirePage, offset: number, size: number, total: number | undefined, fetch: Fetch) {
    // What an item looks like is the caller's knowledge: a collection has no type that could be checked here.
    this.items = answer.items as readonly Item[];
    this.totalCount = total;
    this.pageSize = size;
    this.offset = offset;
    this.hasNext = answer.hasNext;
    this.highlights = answer.found?.highlights;
    this.suggestions = answer.found?.suggestions;
    this.#fetch = fetch;
  }

  /** @internal */
  static first<Item extends object>(
    answer: WirePage,
    window: { readonly limit: number | null; readonly skip: number },
    fetch: Fetch,
  ): Page<Item> {
    return new Page(answer, window.skip, window.limit ?? defaultSize, answer.total ?? undefined, fetch);
  }

  /** How many items stand on this page. */
  get length(): number {
    return this.items.length;
  }

  /** Whether items come before this page. */
  get hasPrev(): boolean {
    return this.offset > 0;
  }

  /** Number of this page, from 0. */
  get currentPage(): number {
    return Math.ceil(this.offset / this.pageSize);
  }

  /** How many pages there are, when `totalCount` is known. */
  get totalPages(): number | undefined {
    return this.totalCount === undefined ? undefined : Math.ceil(this.totalCount / this.pageSize);
  }

  /** The page after this one. Throws WDE0165 when there is none. */
  async next(options: TurnOptions = {}): Promise<Page<Item>> {
    if (!this.hasNext) throw invalid('WDE0165', 'There is no next page.');
    return this.#turn(this.offset + this.pageSize, options);
  }

  /** The page before this one. Throws WDE0159 when there is none. */
  async prev(options: TurnOptions = {}): Promise<Page<Item>> {
    if (!this.hasPrev) throw invalid('WDE0159', 'There is no previous page.');
    return this.#turn(Math.max(0, this.offset - this.pageSize), options);
  }

  /** This page and all that follow. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    yield this;
    if (!this.hasNext) return;
    for (let page = await this.next(); ; page = await page.next()) {
      yield page;
      if (!page.hasNext) return;
    }
  }

  /** The items of this page and of all that follow. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  async #turn(offset: number, options: TurnOptions): Promise<Page<Item>> {
    const answer = await this.#fetch(offset, this.pageSize, options);
    return new Page(answer, offset, this.pageSize, this.totalCount, this.#fetch);
  }
}
