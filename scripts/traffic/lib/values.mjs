// Bodies, queries and headers as values that a schema speaks of.

/** @typedef {import('./exchanges.mjs').Body} Body */

/** The media type of a header, without its parameters. @param {string | undefined} header */
export const mediaTypeOf = (header) => header?.split(';')[0].trim().toLowerCase();

/** Whether values of a media type are JSON. @param {string} mediaType */
export const isJson = (mediaType) => mediaType === 'application/json' || mediaType.endsWith('+json');

/** Messages one after another. @param {string | undefined} mediaType */
export const isEvents = (mediaType) => mediaType === 'text/event-stream';

/**
 * The messages of a stream, those that are whole: their fields by name, `data` as JSON. Comments are none.
 * @param {string} text
 * @returns {{ value: unknown } | { broken: string }}
 */
export function messagesOf(text) {
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 1);
  const lines = whole.split('\n\n').map((it) => it.split('\n').filter((line) => line !== '' && !line.startsWith(':')));
  try {
    return { value: lines.filter((it) => it.length > 0).map(messageOf) };
  } catch (error) {
    return { broken: error instanceof Error ? error.message : String(error) };
  }
}

/** @param {string[]} lines */
function messageOf(lines) {
  const fields = lines.map((line) => {
    const [, name, value] = line.match(/^([^:]+): ?(.*)$/) ?? [];
    if (name === undefined) throw new Error(`the line ${JSON.stringify(line)} has no name`);
    return [name, name === 'data' ? JSON.parse(value) : value];
  });
  if (new Set(fields.map((it) => it[0])).size < fields.length) throw new Error('a message has a field twice');
  return Object.fromEntries(fields);
}

/**
 * The value of a body, or nothing where some of it is missing.
 * @param {Body} body
 * @param {string} mediaType
 * @returns {{ value: unknown, isText: boolean } | { broken: string } | undefined}
 */
export function valueOf(body, mediaType) {
  if (!body?.isWhole || body.text === undefined) return undefined;
  if (mediaType === 'application/x-www-form-urlencoded')
    return { value: pairs(new URLSearchParams(body.text)), isText: true };
  if (!isJson(mediaType)) return undefined;
  try {
    return { value: JSON.parse(body.text), isText: false };
  } catch (error) {
    return { broken: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * What a query asks for: pairs, or all of it in `.r`, JSON in base64url, whose parts are then named by their path.
 * @param {string | null} query
 */
export function queryOf(query) {
  const { '.r': whole, ...others } = pairs(new URLSearchParams(query ?? ''));
  if (typeof whole !== 'string') return others;
  try {
    return { ...others, ...parts(JSON.parse(Buffer.from(whole, 'base64url').toString() || '{}'), '') };
  } catch {
    return { ...others, '.r': whole };
  }
}

/** The leaves of an object by their path. @param {Record<string, any>} value @param {string} before @returns {Record<string, any>} */
function parts(value, before) {
  const found = Object.entries(value).map(([name, it]) => {
    const isInner = typeof it === 'object' && it !== null && !Array.isArray(it);
    return isInner ? parts(it, `${before}${name}.`) : { [before + name]: it };
  });
  return Object.assign({}, ...found);
}

/** Names with their value, or with all of them where there are several. @param {URLSearchParams} parameters */
export function pairs(parameters) {
  /** @type {Record<string, string | string[]>} */
  const found = {};
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    found[name] = values.length > 1 ? values : values[0];
  }
  return found;
}

/**
 * The code of an error, in each of its forms; nothing where there is none.
 * @param {Body} body
 * @returns {string | undefined}
 */
export function codeOf(body) {
  if (!body?.isWhole || !body.text?.startsWith('{')) return undefined;
  let value;
  try {
    value = JSON.parse(body.text);
  } catch {
    return undefined;
  }
  const code = value.details?.applicationError?.code;
  if (typeof code === 'string') return code;
  if (value.details?.validationError) return 'INVALID_ARGUMENT';
  return typeof value.error === 'string' ? value.error : undefined;
}
