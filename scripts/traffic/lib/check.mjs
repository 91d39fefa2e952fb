// Compares exchanges with the description: what is asked and answered, and what is described and never was.
import { faultsOfAnswer, isCut } from './answer.mjs';
import { coverage } from './coverage.mjs';
import { collector } from './misfits.mjs';
import { finder, notBuilt, operationsOf, pathsOf, sharedCodes } from './operations.mjs';
import { faultsOfRequest } from './request.mjs';
import { compiler } from './schemas.mjs';
import { codeOf, mediaTypeOf } from './values.mjs';

/** Tests whose requests are broken on purpose. */
const MALFORMED = 'malformed::';
/** What a path or a method that nothing answers is refused with, before there is an operation. */
const UNROUTED = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'];
/** What a path answers that is known and not built. */
const NOT_BUILT = 'WDE0119';
/** What a path is called that got lost on the way. */
const LOST = 'lost ids';
/** How errors are printed. */
const ERROR = '#/components/schemas/ErrorBody';

/**
 * @typedef {import('./exchanges.mjs').Exchange} Exchange
 * @typedef {import('./operations.mjs').Operation} Operation
 */

/**
 * @param {Record<string, any>} document
 * @param {ReturnType<typeof import('./allowed.mjs').allowedBy>} allowed
 */
export function checker(document, allowed) {
  const operations = operationsOf(document);
  const find = finder(operations);
  const hasPath = pathsOf(operations);
  const isNotBuilt = notBuilt(document);
  const schemaAt = compiler(document);
  const shared = sharedCodes(document);
  const covered = coverage(operations, shared);
  const misfits = collector();
  const counts = { exchanges: 0, requests: 0, cut: 0, full: 0 };

  return {
    /** @param {Exchange | { isFull: true }} exchange */
    see(exchange) {
      if ('isFull' in exchange) {
        counts.full += 1;
        return;
      }
      counts.exchanges += 1;
      if (isPage(exchange)) return;
      const operation = isUnrouted(exchange) ? undefined : (find(exchange) ?? lost(exchange, operations));
      const code = exchange.status >= 400 ? codeOf(exchange.response.body) : undefined;
      if (operation) seeOperation(operation, exchange, code);
      else if (!allowed.isUndescribed(exchange.canonical)) seeUnrouted(exchange, code);
    },
    /** What was found, once all exchanges were seen. */
    result() {
      const missing = covered.missing().filter((it) => !allowed.isUnproduced(it));
      return {
        misfits: misfits.list(),
        missing,
        idle: allowed.idle(),
        counts: { ...counts, operations: operations.length, asked: covered.asked() },
      };
    },
  };

  /** @param {Operation} operation @param {Exchange} exchange @param {string} [code] */
  function seeOperation(operation, exchange, code) {
    covered.note(operation, exchange.status, code);
    for (const it of faultsOfAnswer(operation, exchange, schemaAt)) misfits.add(operation.id, it, exchange);
    if (isCut(exchange)) counts.cut += 1;
    // What is refused may be anything.
    const isTaken = exchange.status >= 200 && exchange.status < 300;
    if (!isTaken || exchange.test.startsWith(MALFORMED)) return;
    counts.requests += 1;
    const faults = faultsOfRequest(operation, exchange, schemaAt);
    if (exchange.route !== LOST && !hasPath(operation, exchange.path))
      faults.push('request: the path that was sent is no alias of it');
    if (faults.length === 0 || allowed.isLenient(exchange.test)) return;
    for (const it of faults) misfits.add(operation.id, it, exchange);
  }

  /** @param {Exchange} exchange @param {string} [code] */
  function seeUnrouted(exchange, code) {
    const { method, route, canonical, response } = exchange;
    const name = `${method} ${route ?? canonical}`;
    if (method === 'OPTIONS' && exchange.status === 204) return;
    const known = isNotBuilt(canonical) ? [...UNROUTED, NOT_BUILT] : UNROUTED;
    if (code === undefined || !(known.includes(code) || shared.has(code))) {
      misfits.add(
        name,
        `answers ${exchange.status}${code ? ` (${code})` : ''}, and no operation is described`,
        exchange,
      );
      return;
    }
    covered.note(undefined, exchange.status, code);
    if (mediaTypeOf(response.headers['content-type']) !== 'application/json')
      misfits.add(name, 'an error that is no JSON', exchange);
    else if (document.components?.schemas?.ErrorBody)
      for (const it of schemaAt(ERROR)(JSON.parse(response.body?.text ?? 'null'))) misfits.add(name, it, exchange);
  }
}

/** Pages of the website and of accounts, which people read. @param {Exchange} exchange */
const isPage = ({ route }) => route === 'pages';

/** Whether nothing answers the path, or nothing takes the method. @param {Exchange} exchange */
const isUnrouted = ({ route, status }) => route === null && (status === 404 || status === 405);

/**
 * The call that was meant by a path that got lost on the way (crates/http/src/content/lost.rs).
 * @param {Exchange} exchange
 * @param {Operation[]} operations
 */
function lost({ route, query }, operations) {
  if (route !== LOST) return undefined;
  const template = new URLSearchParams(query ?? '').has('dataItemId') ? '/v2/items/{id}' : '/v2/collections/{id}';
  return operations.find((it) => it.method === 'GET' && it.template === template);
}
