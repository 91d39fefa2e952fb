/** The first items of an order, kept right while items come, change and go. */
import { type Compare, type WireSort, comparison } from './order.ts';

/**
 * Some items beyond those that are shown are known as well, so that one that goes is followed by the next without a
 * question to the server.
 */
const spare = 20;
/** The most that one question for items may ask for. */
const most = 1000;

export class Window {
  /** How many items to ask the server for. */
  readonly asked: number;
  readonly #size: number;
  readonly #compare: Compare;
  /** In order. */
  #known: object[] = [];
  /** Up to this item, and with it, all that there are are known. Null when that is so of all. */
  #edge: object | null = null;
  #shown: readonly object[] | null = null;

  /** @param size How many items are shown at most. */
  constructor(size: number, sort: readonly WireSort[]) {
    this.#size = size;
    this.#compare = comparison(sort);
    this.asked = Math.max(size, Math.min(size + spare, most));
  }

  /** At most as many as the size, in order. The same array until something changes. */
  get items(): readonly object[] {
    this.#shown ??= Object.freeze(this.#known.slice(0, this.#size));
    return this.#shown;
  }

  /** Whether there are items beyond those that are shown. */
  get hasMore(): boolean {
    return this.#edge !== null || this.#known.length > this.#size;
  }

  /** Whether items are missing from the end of what is shown, because only the server knows which come next. */
  get isShort(): boolean {
    return this.#edge !== null && this.#known.length < this.#size;
  }

  get(id: string): object | null {
    return this.#known.find((each) => idOf(each) === id) ?? null;
  }

  /** Takes the server's answer to a question for {@link asked} items in place of all that was known. */
  replace(items: readonly object[]): void {
    this.#known = [...items].sort(this.#compare);
    this.#edge = this.#known.length < this.asked ? null : (this.#known.at(-1) ?? null);
    this.#shown = null;
  }

  /** The item is there, or is there in another form. */
  put(item: object): void {
    this.remove(idOf(item));
    if (this.#edge !== null && this.#compare(item, this.#edge) > 0) return;
    this.#known.splice(this.#placeOf(item), 0, item);
    if (this.#known.length > 2 * this.asked) this.#forgetTheLast();
    this.#shown = null;
  }

  /** The item is no longer there. */
  remove(id: string): void {
    const at = this.#known.findIndex((each) => idOf(each) === id);
    if (at < 0) return;
    this.#known.splice(at, 1);
    this.#shown = null;
  }

  #forgetTheLast(): void {
    this.#known.length = this.asked;
    this.#edge = this.#known.at(-1) ?? null;
  }

  #placeOf(item: object): number {
    let [low, high] = [0, this.#known.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#known[middle];
      if (other !== undefined && this.#compare(other, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export function idOf(item: object): string {
  const id = (item as { readonly _id?: unknown })._id;
  return typeof id === 'string' ? id : '';
}
