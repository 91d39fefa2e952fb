// The schemas of the description, closed and compiled: a member that isn't described is a misfit.
//
// A description leaves requests open, because servers take and ignore what they don't know. For a check of what was
// sent in tests that would be blind: so every schema of an object is closed here but for those that say with
// `x-free-form` that anything may stand in them.
import ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { at } from './operations.mjs';

/** Says why anything may stand in a place. */
export const FREE_FORM = 'x-free-form';

/** Keywords whose value is a schema of the same value; a list of such; of the value's parts; maps of such. */
const BRANCHES = ['allOf', 'anyOf', 'oneOf'];
const SAME = ['then', 'else'];
const PARTS = ['items', 'additionalProperties', 'contains', 'propertyNames', 'unevaluatedItems'];
const PART_LISTS = ['prefixItems'];
const PART_MAPS = ['properties', 'patternProperties'];

const KEY = 'openapi.json';

/** @typedef {Record<string, any>} Json */

/**
 * What is wrong with a value. Members that aren't described may hold what is said elsewhere: `repeated`.
 * @typedef {(value: unknown, repeated?: Set<unknown>) => string[]} Check
 */

/** @param {Json} document */
export function compiler(document) {
  const closed = structuredClone(document);
  closeAll(closed);
  const options = {
    strict: false,
    allErrors: true,
    verbose: true,
    validateSchema: false,
    logger: /** @type {const} */ (false),
  };
  /** @type {Map<string, Check>} */
  const compiled = new Map();
  const plain = ajv({ ...options });
  // Values of queries, headers and forms are text, whatever they mean.
  const ofText = ajv({ ...options, coerceTypes: 'array' });

  /** @param {object} given */
  function ajv(given) {
    const made = new /** @type {any} */ (ajv2020)(given);
    /** @type {any} */ (addFormats)(made);
    made.addSchema(closed, KEY);
    return made;
  }

  /**
   * What checks values against the schema at a pointer, and answers what is wrong, each with its place.
   * @param {string} pointer
   * @param {{ isText?: boolean }} [how]
   */
  return (pointer, { isText = false } = {}) => {
    const key = `${isText} ${pointer}`;
    let check = compiled.get(key);
    if (!check) {
      const validate = (isText ? ofText : plain).compile({ $ref: `${KEY}${pointer}`, ...closing(closed, pointer) });
      check = (value, repeated) => {
        // What is converted must not be what others look at.
        const holder = isText ? structuredClone(value) : value;
        if (validate(holder)) return [];
        const errors = (validate.errors ?? []).filter((it) => !repeated?.has(it.data?.[unknownOf(it) ?? '']));
        return faultsOf(errors);
      };
      compiled.set(key, check);
    }
    return check;
  };
}

/** What closes a schema that is meant at its root. @param {Json} document @param {string} pointer */
const closing = (document, pointer) =>
  closes(document, at(document, pointer), new Set()) ? { unevaluatedProperties: false } : {};

/** @param {import('ajv').ErrorObject[]} errors */
function faultsOf(errors) {
  // That one of several forms fits says nothing; what is wrong with each does. What was not looked at because
  // something else is wrong isn't unknown.
  const telling = errors.filter((it) => !['anyOf', 'oneOf', 'if', '$ref', 'allOf'].includes(it.keyword));
  const real = telling.filter((it) => it.keyword !== 'unevaluatedProperties');
  const faults = (real.length ? real : telling.length ? telling : errors).map(faultOf);
  return [...new Set(faults)];
}

/** The member that isn't described. @param {{ params: Record<string, any> }} error @returns {string | undefined} */
const unknownOf = ({ params }) => params.unevaluatedProperty ?? params.additionalProperty;

/** @param {import('ajv').ErrorObject} error */
function faultOf({ instancePath, keyword, params, message }) {
  // Numbers of lists are left out, so that a fault of many elements is one.
  const place =
    instancePath
      .replace(/\/\d+(?=\/|$)/g, '[]')
      .replaceAll('/', '.')
      .replace(/^\./, '') || 'the whole';
  const unknown = unknownOf({ params });
  if (unknown !== undefined) return `${place}: the member ${JSON.stringify(unknown)} is not described`;
  if (keyword === 'enum') return `${place}: is none of ${params.allowedValues.join(', ')}`;
  if (keyword === 'const') return `${place}: is not ${JSON.stringify(params.allowedValue)}`;
  return `${place}: ${message}`;
}

/** Closes every schema of the document. @param {Json} document */
function closeAll(document) {
  for (const schema of Object.values(document.components?.schemas ?? {})) closeParts(document, schema);
  const walk = (/** @type {any} */ it) => {
    if (typeof it !== 'object' || it === null) return;
    for (const [key, value] of Object.entries(it)) {
      if (key === 'schema' || key === 'x-item-schema') closeParts(document, value);
      else if (key !== 'schemas' && key !== 'examples' && key !== 'example') walk(value);
    }
  };
  walk(document.paths);
  walk(document.components);
}

/** Closes what a schema says of the parts of its value. @param {Json} document @param {any} schema */
function closeParts(document, schema) {
  if (typeof schema !== 'object' || schema === null) return;
  for (const key of BRANCHES) for (const it of schema[key] ?? []) closeParts(document, it);
  for (const key of SAME) closeParts(document, schema[key]);
  const close = (/** @type {any} */ part) => {
    if (closes(document, part, new Set())) part.unevaluatedProperties = false;
    closeParts(document, part);
  };
  for (const key of PARTS) close(schema[key]);
  for (const key of PART_LISTS) for (const it of schema[key] ?? []) close(it);
  for (const key of PART_MAPS) for (const it of Object.values(schema[key] ?? {})) close(it);
}

/**
 * Whether a schema speaks of an object and doesn't say which other members it may have.
 * @param {Json} document @param {any} schema @param {Set<any>} seen
 * @returns {boolean}
 */
function closes(document, schema, seen) {
  return describesObject(document, schema, seen) && !isOpen(document, schema, new Set());
}

/** @param {Json} document @param {any} schema @param {Set<any>} seen @returns {boolean} */
function describesObject(document, schema, seen) {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  if (schema.properties || schema.type === 'object' || [schema.type].flat().includes('object')) return true;
  return sameValue(document, schema).some((it) => describesObject(document, it, seen));
}

/** Whether it says itself what else may stand there. @param {Json} document @param {any} schema @param {Set<any>} seen @returns {boolean} */
function isOpen(document, schema, seen) {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  if (FREE_FORM in schema || 'unevaluatedProperties' in schema) return true;
  if ('additionalProperties' in schema && schema.additionalProperties !== false) return true;
  return sameValue(document, schema).some((it) => isOpen(document, it, seen));
}

/** The schemas that speak of the same value. @param {Json} document @param {any} schema */
const sameValue = (document, schema) => [
  ...BRANCHES.flatMap((key) => schema[key] ?? []),
  ...(typeof schema.$ref === 'string' ? [at(document, schema.$ref)] : []),
];
