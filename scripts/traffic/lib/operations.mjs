// The operations of the description, and which of them an exchange is of.

// Members of our own in the document: the codes of a response, other paths of an operation, and paths that are known and
// answer nothing but that they are not built.
const CODES = 'x-codes';
const ALIASES = 'x-aliases';
const NOT_BUILT = 'x-not-built';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * A part of the document with the pointer that leads to it, references followed.
 * @template T
 * @typedef {{ value: T, pointer: string }} Part
 *
 * @typedef {Record<string, any>} Json
 * @typedef {{ codes: string[], isShared: boolean } & Part<Json>} Response  shared by reference with other operations
 *
 * @typedef {object} Operation
 * @property {string} id
 * @property {string} method
 * @property {string} template
 * @property {string[]} aliases  templates that lead to it as well
 * @property {Part<Json>[]} parameters
 * @property {Set<string>} packed  members of what may be asked in one value of the query
 * @property {Part<Json> | undefined} requestBody
 * @property {Map<string, Response>} responses  by status, `default` among them
 */

/** @param {Json} document */
export function operationsOf(document) {
  /** @type {Operation[]} */
  const operations = [];
  for (const [template, path] of Object.entries(document.paths ?? {})) {
    const at = `#/paths/${escaped(template)}`;
    for (const method of METHODS.filter((it) => path[it]))
      operations.push(operationAt(document, template, method, path, at));
  }
  return operations;
}

/** @param {Json} document @param {string} template @param {string} method @param {Json} path @param {string} at */
function operationAt(document, template, method, path, at) {
  const own = path[method];
  const pointer = `${at}/${method}`;
  const listed = [
    ...(path.parameters ?? []).map((/** @type {Json} */ it, /** @type {number} */ n) => [it, `${at}/parameters/${n}`]),
    ...(own.parameters ?? []).map((/** @type {Json} */ it, /** @type {number} */ n) => [
      it,
      `${pointer}/parameters/${n}`,
    ]),
  ];
  const parameters = new Map();
  for (const [value, place] of listed) {
    const part = resolved(document, value, place);
    parameters.set(`${part.value.in} ${part.value.name}`, part);
  }
  const responses = Object.entries(own.responses ?? {}).map(([status, value]) => {
    const part = resolved(document, value, `${pointer}/responses/${escaped(status)}`);
    return [status, { ...part, isShared: '$ref' in value, codes: part.value[CODES] ?? [] }];
  });
  return {
    id: own.operationId ?? `${method} ${template}`,
    method: method.toUpperCase(),
    template,
    aliases: own[ALIASES] ?? [],
    parameters: [...parameters.values()],
    packed: new Set([...parameters.values()].flatMap((it) => membersOf(document, it.value.schema?.contentSchema))),
    requestBody: own.requestBody && resolved(document, own.requestBody, `${pointer}/requestBody`),
    responses: new Map(/** @type {[string, Response][]} */ (responses)),
  };
}

/** The names of an object's members. @param {Json} document @param {Json | undefined} schema @returns {string[]} */
const membersOf = (document, schema) =>
  schema ? Object.keys(resolved(document, schema, '#').value.properties ?? {}) : [];

/** The codes that many operations share: those of the responses that stand once for all of them. @param {Json} document */
export const sharedCodes = (document) =>
  new Set(
    Object.values(document.components?.responses ?? {}).flatMap((it) => /** @type {string[]} */ (it[CODES] ?? [])),
  );

/** Tells whether a path is known and not built. @param {Json} document @returns {(path: string) => boolean} */
export function notBuilt(document) {
  const patterns = (document[NOT_BUILT] ?? []).map(patternOf);
  return (path) => patterns.some((/** @type {RegExp} */ it) => it.test(path));
}

/** What is there, or what a `$ref` leads to. @param {Json} document @param {Json} value @param {string} pointer */
function resolved(document, value, pointer) {
  let part = { value, pointer };
  for (let steps = 0; typeof part.value?.$ref === 'string'; steps += 1) {
    const to = part.value.$ref;
    if (steps > 8 || !to.startsWith('#/')) throw new Error(`${pointer}: ${to} leads nowhere`);
    const found = at(document, to);
    if (found === undefined) throw new Error(`${pointer}: ${to} leads nowhere`);
    part = { value: found, pointer: to };
  }
  return part;
}

/** What a pointer of a fragment leads to. @param {Json} document @param {string} pointer */
export function at(document, pointer) {
  const names = pointer.slice(2).split('/').map(unescaped);
  return names.reduce((/** @type {any} */ it, name) => it?.[name], document);
}

/** A name as a step of a pointer in a fragment. @param {string} name */
export const escaped = (name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));

/** @param {string} step */
const unescaped = (step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');

/** The response to a status: its own, that of its hundred, or the default. @param {Operation} operation @param {number} status */
export function responseOf(operation, status) {
  const { responses } = operation;
  return responses.get(`${status}`) ?? responses.get(`${Math.floor(status / 100)}XX`) ?? responses.get('default');
}

/** Finds the operation of an exchange. @param {Operation[]} operations */
export function finder(operations) {
  const templates = operations.flatMap((operation) =>
    [operation.template, ...operation.aliases].map((template) => ({ operation, template })),
  );
  const byRoute = new Map(templates.map((it) => [`${it.operation.method} ${it.template}`, it.operation]));
  const patterns = templates
    .map(({ operation, template }) => ({ operation, pattern: patternOf(template), literals: literals(template) }))
    .sort((a, b) => b.literals - a.literals);
  /**
   * @param {{ method: string, route?: string | null, canonical: string }} exchange
   * @returns {Operation | undefined}
   */
  return ({ method, route, canonical }) => {
    const verb = method === 'HEAD' ? 'GET' : method;
    const named = route && byRoute.get(`${verb} ${withoutStars(route)}`);
    // An item that is called like a call has the call's path: the method tells them apart.
    return named || patterns.find((it) => it.operation.method === verb && it.pattern.test(canonical))?.operation;
  };
}

/**
 * Tells whether a path is one that an operation is described to have.
 * @param {Operation[]} operations
 * @returns {(operation: Operation, path: string) => boolean}
 */
export function pathsOf(operations) {
  const patterns = new Map(operations.map((it) => [it.id, [it.template, ...it.aliases].map(patternOf)]));
  return (operation, path) => {
    // One of several sites of a host.
    const inside = path.replace(/^\/s\/[A-Za-z0-9-]+(?=\/)/, '');
    return (patterns.get(operation.id) ?? []).some((it) => it.test(inside));
  };
}

/** The router writes `{*id}` where an id may have slashes; a description knows no such thing. @param {string} route */
const withoutStars = (route) => route.replaceAll('{*', '{');

/** A template as a pattern: ids may have slashes where they stand last. @param {string} template */
function patternOf(template) {
  const pieces = template.split(/(\{[^}]+\})/).filter((it) => it !== '');
  const text = pieces.map((it, n) => {
    if (!it.startsWith('{')) return it.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
    return n === pieces.length - 1 ? '.+' : '[^/]+';
  });
  return new RegExp(`^${text.join('')}$`);
}

/** How many characters of a template are as they stand. @param {string} template */
const literals = (template) => template.replace(/\{[^}]+\}/g, '').length;
