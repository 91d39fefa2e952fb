import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PRINTED, printed } from './api-types.mjs';

const typeOf = (schema) => {
  const document = { components: { schemas: { It: schema } }, paths: {} };
  return /export type It = ([\s\S]*?);\n\n\/\*\*/.exec(printed(document))[1].replaceAll(/\s+/g, ' ');
};

describe('types of the interface', () => {
  it('are those of the document', () => {
    const kept = readFileSync(PRINTED, 'utf8');
    expect(kept === printed(), 'web/packages/api/src/interface.ts is stale: npm run types').toBe(true);
  });

  it('say what schemas say', () => {
    const text = { type: 'string' };
    expect(typeOf({ type: ['string', 'null'] })).toBe('string | null');
    expect(typeOf({ enum: ['A', "it's", null, 1] })).toBe("'A' | 'it\\'s' | null | 1");
    expect(typeOf({ const: true })).toBe('true');
    expect(typeOf({ type: 'array', items: { $ref: '#/components/schemas/Other' } })).toBe('Array<Other>');
    expect(typeOf({ anyOf: [text, { type: 'integer' }, { type: 'number' }] })).toBe('string | number');
    expect(typeOf({ type: 'object', additionalProperties: false })).toBe('Record<string, never>');
    expect(typeOf({ type: 'object' })).toBe('Record<string, unknown>');
    expect(typeOf({ type: 'object', additionalProperties: text })).toBe('Record<string, string>');
    const object = {
      type: 'object',
      properties: { a: text, 'b-c': { ...text, description: 'B */ C' } },
      required: ['a'],
    };
    expect(typeOf(object)).toBe("{ a: string; /** B *\\/ C */ 'b-c'?: string; }");
    expect(typeOf({})).toBe('unknown');
  });

  it('say what calls take and answer', () => {
    const json = (name) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
    const query = { name: 'size', in: 'query', required: true, schema: { type: 'integer' } };
    const post = {
      operationId: 'thingMake',
      summary: 'Makes a thing',
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }, query],
      requestBody: { content: json('Thing') },
      responses: { 200: { content: json('Made') }, 303: {}, 404: { content: json('ErrorBody') } },
    };
    const document = { components: { schemas: {} }, paths: { '/things/{id}': { post } } };
    const calls = printed(document).split('export interface Calls ')[1].replaceAll(/\s+/g, ' ').trim();
    expect(calls).toBe(
      "{ /** Makes a thing */ thingMake: { method: 'POST'; path: '/things/{id}'; query: { size: number; }; " +
        'request: Thing; answer: Made; }; }',
    );
  });
});
