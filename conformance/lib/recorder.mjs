// Keeps the last exchanges with the server, so that a failing row can show what was asked and what
// was answered. It changes neither request nor answer.

import { member, present } from './parse.mjs';

const BODY_LIMIT = 600;
const KEPT = 400;

/**
 * @typedef {{ method: string, url: string, body: string, status: number, answer: string }} Exchange
 */

/** @typedef {ReturnType<typeof installRecorder>} Recorder */

/** Wraps the global fetch; must run before the client packages are imported. */
export function installRecorder() {
  /** @type {Exchange[]} */
  const exchanges = [];
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    /** @type {Exchange} */
    const exchange = {
      method: init?.method ?? request?.method ?? 'GET',
      url: readable(String(request?.url ?? input)),
      body: typeof init?.body === 'string' ? shorten(init.body) : '',
      status: 0,
      answer: '',
    };
    exchanges.push(exchange);
    if (exchanges.length > KEPT) exchanges.shift();
    try {
      const response = await realFetch(input, init);
      exchange.status = response.status;
      response
        .clone()
        .text()
        .then(
          (text) => {
            exchange.answer = shorten(text);
          },
          () => {},
        );
      return response;
    } catch (error) {
      exchange.answer = String(member(error, 'cause') ?? error);
      throw error;
    }
  };
  return {
    /** @returns {number} a mark for `since` */
    mark: () => exchanges.length,
    /** @param {number} mark */
    since: (mark) => exchanges.slice(mark),
    last: () => present(exchanges.at(-1), 'the last exchange'),
    clear: () => exchanges.splice(0),
  };
}

/** A query sent as `.r=<base64url>` is unreadable as it is. @param {string} url */
function readable(url) {
  const [path, encoded] = url.split('.r=');
  return encoded ? `${path}.r=${shorten(Buffer.from(encoded, 'base64url').toString())}` : shorten(url);
}

/** Tokens are cut: a report may be kept. @param {string} long */
function shorten(long) {
  const text = long.replaceAll(/\b(eyJ[\w-]{6})[\w.-]{20,}/g, '$1…');
  return text.length > BODY_LIMIT ? `${text.slice(0, BODY_LIMIT)}… (${text.length} characters)` : text;
}
