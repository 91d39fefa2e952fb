// A receiver of webhooks in this process: an Express application as the packages' documentation shows it, which keeps
// what arrived.
import { once } from 'node:events';
import express from 'express';

/**
 * @typedef {object} Delivery
 * @property {Record<string, string>} headers
 * @property {string} body
 * @property {number} status  what was answered
 */

/** @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver */

/**
 * @param {(body: string, headers: Record<string, string>) => unknown} process  what it throws is answered with 500
 * @param {string} [readAs]  the content type whose body is read as text, where it is not the one of `express.text()`
 */
export async function startReceiver(process, readAs) {
  /** @type {Delivery[]} */
  const deliveries = [];
  const app = express();
  app.post('/webhook', readAs ? express.text({ type: readAs }) : express.text(), async (request, response) => {
    const delivery = { headers: headersOf(request.headersDistinct), body: request.body, status: 200 };
    deliveries.push(delivery);
    try {
      await process(request.body, delivery.headers);
    } catch (error) {
      delivery.status = 500;
      response.status(500).send(`Webhook error: ${error instanceof Error ? error.message : error}`);
      return;
    }
    response.status(200).send();
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return { url: `http://127.0.0.1:${address.port}/webhook`, deliveries, close: () => void server.close() };
}

/** @param {NodeJS.Dict<string[]>} headers */
function headersOf(headers) {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values?.join(', ') ?? '']));
}

/**
 * What `look` finds, waiting for it.
 * @template T
 * @param {() => T | undefined} look
 * @param {string} what  names it in the error
 * @param {number} [limit]  milliseconds
 * @returns {Promise<T>}
 */
export async function until(look, what, limit = 15_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`no ${what} within ${limit} ms`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
