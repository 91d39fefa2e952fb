/** A search of a collection: which words are meant, and everything that a query can say besides. */
import { checkCollection, checkKeys, checkOptions, isPlainObject } from './check.ts';
import { invalid } from './error.ts';
import type { WireFilter } from './filter.ts';
import type { HighlightOptions } from './found.ts';
import type { WireSort } from './order.ts';
import { Page, type WirePage } from './page.ts';
import { type ReadOptions, laterOptions, readOptionNames } from './query.ts';
import { Selection, type SelectionParts, type WirePaging } from './selection.ts';

/** How the words of a search are meant, and what is wanted beside the items. */
export interface SearchWords {
  /** An item must hold all of the words; one of them is enough otherwise. */
  readonly all?: boolean;
  /** Every word may have errors: one up to five letters, two in longer ones. */
  readonly fuzzy?: boolean;
  /** Only the words of these fields count. */
  readonly within?: readonly string[];
  /** What of each item answers: {@link Page.highlights}. */
  readonly highlight?: true | HighlightOptions;
  /** Other words that may be meant: {@link Page.suggestions}, for those who may read every item. */
  readonly suggest?: boolean;
}

/** The body of `POST /v2/items/search` (docs/protocol/content.md §3.12), but for the options of `find`. */
export interface WireSearch {
  readonly dataCollectionId: string;
  readonly search: {
    readonly fields: readonly string[];
    readonly filter: WireFilter;
    readonly sort: readonly WireSort[];
    readonly search: WireWords;
    readonly highlight?: HighlightOptions;
    readonly paging?: WirePaging;
  };
  readonly returnSuggestions?: true;
}

interface WireWords {
  readonly expression: string;
  readonly mode: 'AND' | 'OR';
  readonly fuzzy: boolean;
  readonly fields?: readonly string[];
}

/** What is wanted beside the items, as it is sent. */
interface Beside {
  readonly highlight?: HighlightOptions;
  readonly suggest: boolean;
}

/** @internal Asks the server. */
export interface AskSearch {
  findWords(request: WireSearch, options: ReadOptions): Promise<WirePage>;
}

/** The server's page size when a search sets none. */
const defaultLimit = 100;

/**
 * ```ts
 * const page = await stoa.items.search<City>('cities', 'sao paulo', { all: true }).eq('country', 'BR').limit(20).find();
 * ```
 * `word*` stands for all words that begin so, `word~` for one with errors. The best items come first unless `ascending`
 * or `descending` say otherwise. There is no total; {@link Page.hasNext} says whether more items follow.
 */
export class Search<Item extends object = Record<string, unknown>> extends Selection<Item, Search<Item>> {
  readonly #ask: AskSearch;
  readonly #words: WireWords;
  readonly #beside: Beside;

  private constructor(ask: AskSearch, words: WireWords, beside: Beside, parts: SelectionParts) {
    super(parts);
    this.#ask = ask;
    this.#words = words;
    this.#beside = beside;
  }

  /** @internal */
  static of<Item extends object>(
    ask: AskSearch,
    collection: string,
    expression: string,
    words: SearchWords,
  ): Search<Item> {
    checkCollection(collection);
    checkKeys('search', words, ['all', 'fuzzy', 'within', 'highlight', 'suggest']);
    const { all = false, fuzzy = false, within, highlight, suggest = false } = words;
    if (typeof expression !== 'string') throw invalid('WDE0018', 'What is searched for must be a string.');
    if ([all, fuzzy, suggest].some((flag) => typeof flag !== 'boolean')) {
      throw invalid('WDE0018', 'all, fuzzy and suggest of search must be true or false.');
    }
    if (within !== undefined && !(Array.isArray(within) && within.every((name) => typeof name === 'string'))) {
      throw invalid('WDE0051', 'within of search takes the names of fields.');
    }
    const fields = within === undefined ? {} : { fields: within };
    const wire: WireWords = { expression, mode: all ? 'AND' : 'OR', fuzzy, ...fields };
    const beside: Beside = { suggest, ...(highlight === undefined ? {} : { highlight: checkHighlight(highlight) }) };
    return new Search<Item>(ask, wire, beside, { collection, filter: {}, sort: [], fields: [], limit: null, skip: 0 });
  }

  /** @internal */
  protected override but(change: Partial<SelectionParts>): Search<Item> {
    return new Search(this.#ask, this.#words, this.#beside, { ...this.parts, ...change });
  }

  /**
   * Asks the server for the page.
   * @throws StoaError WDE0190 where the collection isn't searched, WDE0147 for a field of `within` or `highlight` that isn't.
   */
  async find(options: ReadOptions = {}): Promise<Page<Item>> {
    checkOptions(options, readOptionNames);
    const answer = await this.#ask.findWords(this.toJSON(), options);
    const { limit, skip } = this.parts;
    return Page.first<Item>(answer, { limit: limit ?? defaultLimit, skip }, async (offset, size, later) => {
      const next = this.but({ skip: offset, limit: size });
      return this.#ask.findWords(next.toJSON(), laterOptions(options, later));
    });
  }

  /** Every item that is found, from `skip` on; further pages are asked for as they are needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this.find();
  }

  /** The request as the server reads it. */
  toJSON(): WireSearch {
    const { collection, filter, sort, fields } = this.parts;
    const { suggest, ...beside } = this.#beside;
    const search = { fields, filter, sort, search: this.#words, ...beside, ...this.paging };
    return { dataCollectionId: collection, search, ...(suggest ? { returnSuggestions: true } : {}) };
  }
}

/** Numbers and names are the server's to check. */
function checkHighlight(highlight: true | HighlightOptions): HighlightOptions {
  if (highlight === true) return {};
  if (!isPlainObject(highlight)) throw invalid('WDE0018', 'highlight of search must be true or options.');
  checkKeys('highlight', highlight, ['fields', 'maxLength', 'maxFragments']);
  return highlight;
}
