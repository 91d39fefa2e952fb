/**
 * The life of the tokens (docs/protocol/identity.md §4).
 *
 * Before each call: an access token that still holds is used; else the refresh token buys a new one; else an anonymous
 * visitor is made. Three things are stricter than that protocol asks of a client:
 * - one renewal at a time, however many calls wait for it (and over all tabs, where the store can do that);
 * - only a refusal ends a membership. When the server cannot be reached or answers 429 or 5xx, the tokens stay and the
 *   call fails, because a member must not become a visitor by a bad connection;
 * - a refresh token that comes with a renewal replaces the old one.
 */
import { StoaError, record } from './error.ts';
import { type Tokens, type TokenStore, noTokens } from './tokens.ts';
import type { Exchange, Transport } from './transport.ts';

/** A call is made this long before the access token ends at the latest; seconds. */
const margin = 5;
/** Taken when the server does not say how long an access token lives; seconds. */
const unknownLife = 300;
/** How long a renewal may take, so that no tab holds up the others for ever. */
const renewalTimeoutMs = 30_000;

export interface Call extends Omit<Exchange, 'authorization'> {
  /** The call changes nothing, so it may be made again as a visitor when the membership turns out to have ended. */
  readonly read: boolean;
}

export class Session {
  readonly #transport: Transport;
  readonly #clientId: string;
  readonly #store: TokenStore;
  readonly #listeners = new Set<() => void>();
  #renewal: Promise<Tokens> | null = null;
  #stopHearing: (() => void) | null = null;

  constructor(transport: Transport, clientId: string, store: TokenStore) {
    this.#transport = transport;
    this.#clientId = clientId;
    this.#store = store;
  }

  get loggedIn(): boolean {
    return this.#store.get().refreshToken.role === 'member';
  }

  /** Calls `listener` after every change of the tokens, here or in another place. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#stopHearing ??= this.#store.subscribe?.(() => this.#tell()) ?? null;
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stopHearing?.();
      this.#stopHearing = null;
    };
  }

  /** Makes a call as the holder of the tokens. A token refused as expired or revoked is renewed once. */
  call(call: Call): Promise<unknown> {
    return this.#asHolder(call, (exchange) => this.#transport.send(exchange));
  }

  /** Opens a stream of events like {@link call}. */
  open(call: Call): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    return this.#asHolder(call, (exchange) => this.#transport.open(exchange));
  }

  async #asHolder<Answer>({ read, ...exchange }: Call, ask: (exchange: Exchange) => Promise<Answer>): Promise<Answer> {
    const as = ({ accessToken }: Tokens) => ask({ ...exchange, authorization: accessToken.value });
    const first = await this.#tokens();
    try {
      return await as(first);
    } catch (error) {
      if (!(error instanceof StoaError) || error.status !== 401) throw error;
      const second = await this.#renew(first.accessToken.value);
      const sameCaller = second.refreshToken.role === first.refreshToken.role;
      if (second.accessToken.value === first.accessToken.value || !(sameCaller || read)) throw error;
      return as(second);
    }
  }

  /** Buys member tokens with the code of a sign-in. */
  async exchange(code: string, codeVerifier: string, redirectUri: string): Promise<void> {
    const grant = { clientId: this.#clientId, grantType: 'authorization_code', redirectUri, code, codeVerifier };
    this.#keep(await this.#grant(grant, 'member', ''));
  }

  /** Forgets the tokens. The next call makes a new visitor. */
  clear(): void {
    this.#keep(noTokens);
  }

  async #tokens(): Promise<Tokens> {
    const tokens = this.#store.get();
    return holds(tokens, margin) ? tokens : this.#renew(null);
  }

  /** Joins the renewal under way, or begins one. `refused` is an access token known not to work although in time. */
  #renew(refused: string | null): Promise<Tokens> {
    if (this.#renewal === null) {
      const work = () => this.#renewNow(refused);
      this.#renewal = (this.#store.exclusive?.(work) ?? work()).finally(() => {
        this.#renewal = null;
      });
    }
    return this.#renewal;
  }

  async #renewNow(refused: string | null): Promise<Tokens> {
    const before = this.#store.get();
    // Another tab may have been faster while this one waited for its turn.
    if (holds(before, margin) && before.accessToken.value !== refused) return before;
    let after: Tokens;
    try {
      after = await this.#successor(before);
    } catch (error) {
      // In time although within the margin: good enough when the server is out of reach.
      if (holds(before, 0) && before.accessToken.value !== refused) return before;
      throw error;
    }
    // Signed in or out meanwhile: that pair counts, not the renewal of the one before.
    const now = this.#store.get();
    if (now.refreshToken.value !== before.refreshToken.value) {
      return holds(now, 0) ? now : this.#renewNow(refused);
    }
    this.#keep(after);
    return after;
  }

  async #successor(before: Tokens): Promise<Tokens> {
    const { value: refreshToken, role } = before.refreshToken;
    if (refreshToken !== '') {
      try {
        return await this.#grant(
          { clientId: this.#clientId, refreshToken, grantType: 'refresh_token' },
          role,
          refreshToken,
        );
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
    }
    return this.#grant({ clientId: this.#clientId, grantType: 'anonymous' }, 'visitor', '');
  }

  async #grant(body: object, role: Tokens['refreshToken']['role'], refreshToken: string): Promise<Tokens> {
    const answer = record(
      await this.#transport.send({
        method: 'POST',
        path: '/oauth2/token',
        body,
        signal: AbortSignal.timeout(renewalTimeoutMs),
      }),
    );
    const value = answer['access_token'];
    if (typeof value !== 'string' || value === '') {
      throw new StoaError('The server gave no access token.', { code: 'UNREADABLE', status: 200 });
    }
    const life = Number(answer['expires_in'] ?? unknownLife);
    const next = answer['refresh_token'];
    return {
      accessToken: { value, expiresAt: Math.floor(Date.now() / 1000) + (Number.isFinite(life) ? life : unknownLife) },
      refreshToken: { value: typeof next === 'string' && next !== '' ? next : refreshToken, role },
    };
  }

  #keep(tokens: Tokens): void {
    this.#store.set(tokens);
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

function holds({ accessToken }: Tokens, seconds: number): boolean {
  return accessToken.value !== '' && accessToken.expiresAt - seconds > Date.now() / 1000;
}

/** The server said no, rather than nothing: 4xx, except those that ask to come back later. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof StoaError)) return false;
  const { status } = error;
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;
}
