/** The client of one site. */
import { Auth } from './auth.ts';
import { checkKeys } from './check.ts';
import { invalid } from './error.ts';
import { type FlowStore, defaultFlows } from './flow-store.ts';
import { Items } from './items.ts';
import { Realtime } from './realtime.ts';
import { Session } from './session.ts';
import type { TokenStore } from './tokens.ts';
import { type Fetch, Transport } from './transport.ts';

/** What {@link createClient} takes. */
export interface ClientOptions {
  /** Origin of the server, for example `https://example.com`; a path prefix may follow. */
  readonly baseUrl: string;
  /** The OAuth client that the site's owner registered for this app. */
  readonly clientId: string;
  /** Where tokens are kept: `localStorageTokens()`, `memoryTokens()` or your own. */
  readonly tokens: TokenStore;
  /** Sends requests; the platform's own `fetch` by default. */
  readonly fetch?: Fetch;
  /** Where a sign-in under way is remembered; the tab's sessionStorage by default, memory where there is none. */
  readonly flows?: FlowStore;
}

/** A site, as seen by the holder of the tokens. */
export interface Client {
  readonly auth: Auth;
  readonly items: Items;
}

/**
 * ```ts
 * const stoa = createClient({ baseUrl: location.origin, clientId, tokens: localStorageTokens() });
 * const page = await stoa.items.query('cities').startsWith('name', 'Par').find();
 * ```
 * Nothing is sent until the first call; that call makes an anonymous visitor when there are no tokens yet.
 */
export function createClient(options: ClientOptions): Client {
  checkKeys('createClient', options, ['baseUrl', 'clientId', 'tokens', 'fetch', 'flows']);
  const { baseUrl, clientId, tokens } = options;
  if (!URL.canParse(baseUrl)) throw invalid('INVALID_ARGUMENT', 'baseUrl must be a whole URL.');
  if (typeof clientId !== 'string' || clientId === '') {
    throw invalid('INVALID_ARGUMENT', 'clientId must be a string that is not empty.');
  }
  const transport = new Transport(baseUrl, options.fetch ?? ((input, init) => fetch(input, init)));
  const session = new Session(transport, clientId, tokens);
  return {
    auth: new Auth(session, clientId, options.flows ?? defaultFlows()),
    items: new Items(session, new Realtime(session)),
  };
}
