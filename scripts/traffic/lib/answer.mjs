// Whether an answer is one that the description knows.
import { escaped, responseOf } from './operations.mjs';
import { codeOf, isEvents, isJson, mediaTypeOf, messagesOf, valueOf } from './values.mjs';

/** Answers that have no body whatever is described. */
const BODILESS = [204, 304];
/** The member of our own that holds the schema of each message of a stream. */
const MESSAGE = 'x-item-schema';

/**
 * @param {import('./operations.mjs').Operation} operation
 * @param {import('./exchanges.mjs').Exchange} exchange
 * @param {ReturnType<typeof import('./schemas.mjs').compiler>} schemaAt
 * @returns {string[]} what is wrong
 */
export function faultsOfAnswer(operation, exchange, schemaAt) {
  const { status } = exchange;
  const response = responseOf(operation, status);
  const code = status >= 400 ? codeOf(exchange.response.body) : undefined;
  if (!response) return [`the status ${status}${code ? ` (${code})` : ''} is not described`];
  const faults = [...faultsOfHeaders(response, exchange.response.headers, schemaAt)];
  if (code && !response.codes.includes(code)) faults.push(`the code ${code} is not described`);
  faults.push(...faultsOfBody(response, exchange, schemaAt));
  return faults.map((it) => `${status}: ${it}`);
}

/**
 * @param {import('./operations.mjs').Response} response
 * @param {Record<string, string>} headers
 * @param {ReturnType<typeof import('./schemas.mjs').compiler>} schemaAt
 */
function* faultsOfHeaders({ value, pointer }, headers, schemaAt) {
  for (const [name, described] of Object.entries(value.headers ?? {})) {
    const header = /** @type {{ $ref?: string, required?: boolean, schema?: object }} */ (described);
    const sent = headers[name.toLowerCase()];
    if (sent === undefined) {
      if (header.required) yield `the header ${name} is missing`;
      continue;
    }
    const place = header.$ref ?? `${pointer}/headers/${escaped(name)}`;
    if (header.$ref || header.schema)
      for (const fault of schemaAt(`${place}/schema`, { isText: true })(sent)) yield `the header ${name}: ${fault}`;
  }
}

/**
 * @param {import('./operations.mjs').Response} response
 * @param {import('./exchanges.mjs').Exchange} exchange
 * @param {ReturnType<typeof import('./schemas.mjs').compiler>} schemaAt
 * @returns {string[]}
 */
function faultsOfBody({ value, pointer }, { method, status, response }, schemaAt) {
  if (method === 'HEAD' || BODILESS.includes(status)) return [];
  const { body, headers } = response;
  const mediaType = mediaTypeOf(headers['content-type']);
  const described = Object.keys(value.content ?? {});
  if (described.length === 0) return body && body.size > 0 ? [`has a body (${mediaType}), and none is described`] : [];
  if (body === null) return ['has no body, and one is described'];
  const type = described.find((it) => mediaTypeOf(it) === mediaType);
  if (!type) return [`the content type ${mediaType} is none of ${described.join(', ')}`];
  if (isEvents(mediaType))
    return faultsOfMessages(value.content[type], body, schemaAt, `${pointer}/content/${escaped(type)}`);
  const found = valueOf(body, mediaTypeOf(type) ?? '');
  if (!found || !value.content[type].schema) return [];
  if ('broken' in found) return [`the body is no JSON: ${found.broken}`];
  return schemaAt(`${pointer}/content/${escaped(type)}/schema`, found)(found.value);
}

/**
 * What is wrong with the messages of a stream, as far as it was read and kept.
 * @param {Record<string, any>} content
 * @param {NonNullable<import('./exchanges.mjs').Body>} body
 * @param {ReturnType<typeof import('./schemas.mjs').compiler>} schemaAt
 * @param {string} pointer
 * @returns {string[]}
 */
function faultsOfMessages(content, body, schemaAt, pointer) {
  const found = messagesOf(body.text ?? '');
  if ('broken' in found) return [`a message is broken: ${found.broken}`];
  const check = content[MESSAGE] ? schemaAt(`${pointer}/${MESSAGE}`) : () => [];
  const faults = /** @type {unknown[]} */ (found.value).flatMap((it) => check(it));
  return [...new Set(faults)];
}

/** Whether an answer has a body that can't be looked at, because it is longer than what is kept. @param {import('./exchanges.mjs').Exchange} exchange */
export function isCut({ method, response: { headers, body } }) {
  const isRead = body !== null && body.size > 0 && method !== 'HEAD';
  return isRead && !body.isWhole && isJson(mediaTypeOf(headers['content-type']) ?? '');
}
