/** What a query and a search have in common: conditions, order, projection and window, built step by step. */
import { checkCount } from './check.ts';
import { invalid } from './error.ts';
import { Conditions, type FieldName, type WireFilter } from './filter.ts';
import type { WireSort } from './order.ts';

/** @internal */
export interface SelectionParts {
  readonly collection: string;
  readonly filter: WireFilter;
  readonly sort: readonly WireSort[];
  readonly fields: readonly string[];
  readonly limit: number | null;
  readonly skip: number;
}

/** The window of a request; the server's own size without a limit. */
export interface WirePaging {
  readonly limit?: number;
  readonly offset: number;
}

/** The methods that `Query` and `Search` share. */
export abstract class Selection<Item extends object, Self> extends Conditions<Item, Self> {
  /** @internal */
  protected readonly parts: SelectionParts;

  /** @internal */
  protected constructor(parts: SelectionParts) {
    super(parts.filter);
    this.parts = parts;
  }

  /** @internal The same thing with some other parts. */
  protected abstract but(change: Partial<SelectionParts>): Self;

  /** @internal */
  protected override with(filter: WireFilter): Self {
    return this.but({ filter });
  }

  /** Order by these fields, smallest first; missing values come first. Adds to the order given so far. */
  ascending(...fields: FieldName<Item>[]): Self {
    return this.#order(fields, 'ASC');
  }

  /** Order by these fields, largest first; missing values come last. */
  descending(...fields: FieldName<Item>[]): Self {
    return this.#order(fields, 'DESC');
  }

  /** At most this many items on a page; the server's default is 50 of a query and 100 of a search, its maximum 1,000. */
  limit(limit: number): Self {
    checkCount('limit', limit);
    return this.but({ limit });
  }

  /** Leave out this many items at the beginning. */
  skip(skip: number): Self {
    checkCount('skip', skip);
    return this.but({ skip });
  }

  /** Give only these fields and `_id`; dotted names reach into objects. */
  fields(...fields: FieldName<Item>[]): Self {
    checkNames('fields', fields);
    return this.but({ fields });
  }

  /** @internal The window as a member of a request; none when nothing was said of it. */
  protected get paging(): { readonly paging?: WirePaging } {
    const { limit, skip } = this.parts;
    if (limit !== null) return { paging: { limit, offset: skip } };
    return skip > 0 ? { paging: { offset: skip } } : {};
  }

  #order(fields: readonly string[], order: WireSort['order']): Self {
    checkNames(order === 'ASC' ? 'ascending' : 'descending', fields);
    return this.but({ sort: [...this.parts.sort, ...fields.map((fieldName) => ({ fieldName, order }))] });
  }
}

function checkNames(method: string, names: readonly unknown[]): void {
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && name !== '')) {
    throw invalid('WDE0051', `${method} takes the names of fields.`);
  }
}
