// Whether a request that was taken is one that the description knows.
import { escaped } from './operations.mjs';
import { mediaTypeOf, queryOf, valueOf } from './values.mjs';

/**
 * @param {import('./operations.mjs').Operation} operation
 * @param {import('./exchanges.mjs').Exchange} exchange
 * @param {ReturnType<typeof import('./schemas.mjs').compiler>} schemaAt
 * @returns {string[]} what is wrong
 */
export function faultsOfRequest(operation, exchange, schemaAt) {
  const faults = [
    ...faultsOfQuery(operation, exchange, schemaAt),
    ...faultsOfHeaders(operation, exchange, schemaAt),
    ...faultsOfBody(operation, exchange, schemaAt),
  ];
  return faults.map((it) => `request: ${it}`);
}

/**
 * @typedef {import('./operations.mjs').Operation} Operation
 * @typedef {import('./exchanges.mjs').Exchange} Exchange
 * @typedef {ReturnType<typeof import('./schemas.mjs').compiler>} SchemaAt
 */

/** @param {Operation} operation @param {Exchange} exchange @param {SchemaAt} schemaAt */
function* faultsOfQuery(operation, exchange, schemaAt) {
  const sent = queryOf(exchange.query);
  const repeated = inPath(operation, exchange);
  const described = new Map(parametersIn(operation, 'query'));
  for (const name of Object.keys(sent))
    if (!described.has(name) && !repeated.has(sent[name]) && !operation.packed.has(name.split('.')[0]))
      yield `the parameter ${name} in the query is not described`;
  yield* faultsOfValues('the parameter', described, sent, schemaAt);
}

/** @param {Operation} operation @param {Exchange} exchange @param {SchemaAt} schemaAt */
function* faultsOfHeaders(operation, { request }, schemaAt) {
  yield* faultsOfValues('the header', new Map(parametersIn(operation, 'header')), request.headers, schemaAt);
}

/** @param {Operation} operation @param {string} place @returns {[string, import('./operations.mjs').Part<any>][]} */
const parametersIn = (operation, place) =>
  operation.parameters
    .filter((it) => it.value.in === place)
    .map((it) => [place === 'header' ? it.value.name.toLowerCase() : it.value.name, it]);

/**
 * @param {string} what
 * @param {Map<string, import('./operations.mjs').Part<any>>} described
 * @param {Record<string, string | string[]>} sent
 * @param {SchemaAt} schemaAt
 */
function* faultsOfValues(what, described, sent, schemaAt) {
  for (const [name, { value, pointer }] of described) {
    if (sent[name] === undefined) {
      if (value.required) yield `${what} ${name} is missing`;
    } else if (value.schema) {
      for (const fault of schemaAt(`${pointer}/schema`, { isText: true })(sent[name]))
        yield `${what} ${name}: ${fault}`;
    }
  }
}

/** @param {Operation} operation @param {Exchange} exchange @param {SchemaAt} schemaAt @returns {string[]} */
function faultsOfBody(operation, exchange, schemaAt) {
  const { requestBody } = operation;
  const { headers, body } = exchange.request;
  if (body === null) return requestBody?.value.required ? ['there is no body'] : [];
  // It was not read, so nothing depends on it.
  if (body.size === 0) return [];
  if (!requestBody) return ['there is a body, and none is described'];
  const mediaType = mediaTypeOf(headers['content-type']) ?? 'application/json';
  const described = Object.keys(requestBody.value.content ?? {});
  const type = described.find((it) => mediaTypeOf(it) === mediaType);
  if (!type) return [`the content type ${mediaType} is none of ${described.join(', ')}`];
  const found = valueOf(body, mediaType);
  if (!found || !requestBody.value.content[type].schema) return [];
  if ('broken' in found) return [`the body is no JSON: ${found.broken}`];
  return schemaAt(`${requestBody.pointer}/content/${escaped(type)}/schema`, found)(
    found.value,
    inPath(operation, exchange),
  );
}

/**
 * What the parameters of the path are: clients repeat it in the query and in the body, where it isn't looked at.
 * @param {Operation} operation @param {Exchange} exchange @returns {Set<unknown>}
 */
function inPath(operation, { canonical }) {
  const given = canonical.split('/');
  return new Set(operation.template.split('/').flatMap((it, n) => (it.startsWith('{') ? [decoded(given[n])] : [])));
}

/** @param {string} segment */
function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
