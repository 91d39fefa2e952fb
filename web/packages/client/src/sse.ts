/**
 * Reads a stream of server-sent events (the `text/event-stream` of the HTML standard), whatever pieces it arrives in.
 */
import { StoaError } from './error.ts';

/** One block of the stream. */
export interface ServerEvent {
  /** The name that the server gave it; `message` when it gave none. */
  readonly name: string;
  /** Lines of data, joined by line feeds; empty for a block that holds an id alone. */
  readonly data: string;
  /** The id of this block; null when it has none. Unlike in `EventSource`, that of the block before is not kept. */
  readonly id: string | null;
}

/** Characters that one block may have: a hundred of the largest items, and a little more. */
export const longestEvent = 64 * 1024 * 1024;

export class EventParser {
  readonly #longest: number;
  /** Drops a byte order mark at the beginning; keeps half characters for the next piece. */
  readonly #decoder = new TextDecoder();
  /** The line that has no end yet, in pieces. */
  #line = '';
  /** The piece before ended with a carriage return, so a line feed that comes next belongs to it. */
  #afterReturn = false;
  #name = '';
  #data: string[] = [];
  #id: string | null = null;
  #length = 0;

  constructor(longest = longestEvent) {
    this.#longest = longest;
  }

  /**
   * Takes the next bytes and gives the blocks that they complete.
   * @throws StoaError `UNREADABLE` for a block longer than the parser holds.
   */
  push(bytes: Uint8Array): ServerEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return [];
    if (this.#afterReturn && text.startsWith('\n')) text = text.slice(1);
    this.#afterReturn = text === '' ? false : text.endsWith('\r');

    const events: ServerEvent[] = [];
    const lines = text.split(/\r\n|\n|\r/);
    const open = lines.pop() ?? '';
    for (const line of lines) {
      const whole = this.#line + line;
      this.#line = '';
      this.#grow(line.length);
      const event = whole === '' ? this.#end() : this.#field(whole);
      if (event !== null) events.push(event);
    }
    this.#line += open;
    this.#grow(open.length);
    return events;
  }

  #grow(by: number): void {
    this.#length += by;
    if (this.#length <= this.#longest) return;
    throw new StoaError('The server sent an event that is too long.', { code: 'UNREADABLE', status: 200 });
  }

  #field(line: string): null {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const rest = colon < 0 ? '' : line.slice(colon + 1);
    const value = rest.startsWith(' ') ? rest.slice(1) : rest;
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#name = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    // A comment, which has no name, keeps nothing.
    else this.#length -= line.length;
    return null;
  }

  #end(): ServerEvent | null {
    const event = { name: this.#name || 'message', data: this.#data.join('\n'), id: this.#id };
    const isEmpty = this.#data.length === 0 && this.#id === null;
    this.#name = '';
    this.#data = [];
    this.#id = null;
    this.#length = 0;
    return isEmpty ? null : event;
  }
}
