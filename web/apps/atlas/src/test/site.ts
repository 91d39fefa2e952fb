/** A site whose server is a function, for tests: what is asked of it is kept. */
import { createClient, memoryTokens } from '@stoa/client';

import { type Site, createQueries } from '../api/site.ts';

export interface Asked {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** What a request is answered with: a body, or a status for a refusal. */
export type Reply = object | number | undefined;

export function fakeSite(answer: (asked: Asked) => Reply | Promise<Reply>): Site & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    const packed = url.searchParams.get('.r');
    const text = packed === null ? String(init?.body ?? '{}') : unpacked(packed);
    if (url.pathname === '/oauth2/token')
      return json(200, { access_token: 'a', refresh_token: 'JWS.x.y', expires_in: 3600 });
    const each = { path: url.pathname, body: JSON.parse(text) as Record<string, unknown> };
    asked.push(each);
    const reply = await answer(each);
    return typeof reply === 'object' ? json(200, reply) : json(reply ?? 404, { message: 'no' });
  };
  return {
    asked,
    stoa: createClient({ baseUrl: 'http://site.test', clientId: 'c', tokens: memoryTokens(), fetch }),
    queries: createQueries(),
    settings: { siteId: 's', name: 'Atlas', clientId: 'c', language: 'en' },
  };
}

const json = (status: number, body: object) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

function unpacked(text: string): string {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

/** Items as a page of an answer. */
export const page = (items: readonly { readonly _id: string }[], hasNext = false) => ({
  dataItems: items.map((data) => ({ id: data._id, data })),
  pagingMetadata: { count: items.length, hasNext },
});
