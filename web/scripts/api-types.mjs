// Prints docs/openapi.json as TypeScript: a type for each schema, and for each call its method, path, query, body and
// answer. `npm run types` writes web/packages/api/src/interface.ts; api-types.test.mjs fails while that is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCUMENT = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
export const PRINTED = fileURLToPath(new URL('../packages/api/src/interface.ts', import.meta.url));

const HEAD = `// Printed from docs/openapi.json. Do not edit by hand; print it again with
// npm run types
`;

/** The text of the file as the document says it now. */
export function printed(document = JSON.parse(readFileSync(DOCUMENT, 'utf8'))) {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema.description, '')}export type ${name} = ${type(schema, '')};\n`,
  );
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => call(path, method, operation)),
  );
  return `${HEAD}\n${schemas.join('\n')}\n/** The calls by their ids. */\nexport interface Calls {\n${calls.join('')}}\n`;
}

function call(path, method, operation) {
  const parameters = (operation.parameters ?? []).filter((it) => it.in === 'query');
  const query = parameters.map((it) => ({ ...it, ...it.schema, description: it.description }));
  const members = {
    method: `'${method.toUpperCase()}'`,
    path: `'${path}'`,
    query: object(
      query.map((it) => [it.name, it]),
      query.filter((it) => it.required === true).map((it) => it.name),
      '    ',
    ),
    request: content(operation.requestBody?.content, '    '),
    answer: answer(operation.responses, '    '),
  };
  const lines = Object.entries(members).map(([name, text]) => `    ${name}: ${text};\n`);
  return `${comment(operation.summary, '  ')}  ${operation.operationId}: {\n${lines.join('')}  };\n`;
}

/** What is answered when nothing is wrong. */
function answer(responses, indent) {
  const good = Object.entries(responses).filter(([status, it]) => status.startsWith('2') && it.content !== undefined);
  return union(good.map(([, it]) => content(it.content, indent)));
}

/** The JSON among media types; other bodies are text. */
function content(media, indent) {
  if (media === undefined) return 'undefined';
  const json = media['application/json'];
  return json === undefined ? 'string' : type(json.schema, indent);
}

/** A schema as a type. `indent` stands before the line that the type ends in. */
function type(schema, indent) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema === false) return 'never';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  const some = schema.anyOf ?? schema.oneOf;
  if (some !== undefined) return union(some.map((it) => type(it, indent)));
  if (schema.allOf !== undefined) return schema.allOf.map((it) => `(${type(it, indent)})`).join(' & ');
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? 'unknown' : union(types.map((it) => ofType(it, schema, indent)));
}

function ofType(name, schema, indent) {
  switch (name) {
    case 'integer':
      return 'number';
    case 'array':
      return `Array<${type(schema.items, indent)}>`;
    case 'object': {
      const members = Object.entries(schema.properties ?? {});
      const more = schema.additionalProperties;
      if (members.length === 0 && more !== false) return `Record<string, ${type(more ?? true, indent)}>`;
      return object(members, schema.required ?? [], indent);
    }
    default:
      return name;
  }
}

function object(members, required, indent) {
  if (members.length === 0) return 'Record<string, never>';
  const inner = `${indent}  `;
  const lines = members.map(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
    const optional = required.includes(name) ? '' : '?';
    return `${comment(schema.description, inner)}${inner}${key}${optional}: ${type(schema, inner)};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

function union(types) {
  return types.length === 0 ? 'undefined' : [...new Set(types)].join(' | ');
}

/** A value as TypeScript writes it; prettier's quotes. */
function literal(value) {
  return typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : JSON.stringify(value);
}

function comment(text, indent) {
  return text === undefined || text === ''
    ? ''
    : `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PRINTED, printed());
