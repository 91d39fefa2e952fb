/**
 * Where tokens are kept. The client reads the store before every call and writes it after every change, so an app may
 * bring its own: a cookie, a request of a server-side renderer, a key chain.
 */

/** Who holds the tokens: no one yet, an anonymous visitor, or a member who signed in. */
export type Role = 'none' | 'visitor' | 'member';

/** The pair as it is kept (docs/protocol/identity.md §4.4). Plain JSON, so it can be stored anywhere. */
export interface Tokens {
  readonly accessToken: {
    /** Sent with every call; empty when there is none. */
    readonly value: string;
    /** Unix time in seconds. */
    readonly expiresAt: number;
  };
  readonly refreshToken: {
    /** Buys new access tokens; empty when there is none. */
    readonly value: string;
    readonly role: Role;
  };
}

/** The pair before the first call, and after signing out. */
export const noTokens: Tokens = Object.freeze({
  accessToken: Object.freeze({ value: '', expiresAt: 0 }),
  refreshToken: Object.freeze({ value: '', role: 'none' }),
});

/** Keeps one pair of tokens. */
export interface TokenStore {
  /** The pair now; {@link noTokens} when there is none. Must not throw. */
  get(): Tokens;
  set(tokens: Tokens): void;
  /** Calls `listener` when the pair was changed in another place, for example another tab. Gives a function that stops it. */
  subscribe?(listener: () => void): () => void;
  /**
   * Runs `work` while no other user of the same store does, so that two tabs do not renew at once. Without it every
   * client renews for itself.
   */
  exclusive?<T>(work: () => Promise<T>): Promise<T>;
}

/** Keeps the pair for as long as the object lives. For tests, and for one visitor's request on a server. */
export function memoryTokens(initial: Tokens = noTokens): TokenStore {
  let tokens = initial;
  return {
    get: () => tokens,
    set: (next) => {
      tokens = next;
    },
  };
}

/**
 * Keeps the pair in the browser's localStorage: over reloads, and shared by all tabs of the origin.
 * Where the browser refuses storage, the pair lives as long as the page.
 * @param key Name of the entry; two clients on one origin need two.
 */
export function localStorageTokens(key = 'stoa.tokens'): TokenStore {
  let fallback = noTokens;
  return {
    get: () => {
      try {
        return readTokens(localStorage.getItem(key));
      } catch {
        return fallback;
      }
    },
    set: (tokens) => {
      fallback = tokens;
      try {
        localStorage.setItem(key, JSON.stringify(tokens));
      } catch {
        // Storage is off or full: `fallback` holds the pair.
      }
    },
    subscribe: (listener) => {
      const heard = (event: StorageEvent) => {
        // `key` is null when the whole storage was cleared.
        if (event.key === key || event.key === null) listener();
      };
      addEventListener('storage', heard);
      return () => removeEventListener('storage', heard);
    },
    exclusive: async <T>(work: () => Promise<T>): Promise<T> => {
      // Missing in insecure contexts; the DOM types do not say so.
      const locks = (navigator as { readonly locks?: LockManager }).locks;
      return locks === undefined ? work() : await locks.request<Promise<T>>(`${key}.renew`, work);
    },
  };
}

/** Reads what {@link localStorageTokens} wrote; anything else counts as nothing. */
export function readTokens(text: string | null): Tokens {
  if (text === null) return noTokens;
  try {
    const value = JSON.parse(text) as { [Part in keyof Tokens]?: Partial<Record<keyof Tokens[Part], unknown>> };
    const access = value.accessToken;
    const refresh = value.refreshToken;
    if (typeof access?.value !== 'string' || typeof access.expiresAt !== 'number') return noTokens;
    if (typeof refresh?.value !== 'string' || !isRole(refresh.role)) return noTokens;
    return {
      accessToken: { value: access.value, expiresAt: access.expiresAt },
      refreshToken: { value: refresh.value, role: refresh.role },
    };
  } catch {
    return noTokens;
  }
}

function isRole(value: unknown): value is Role {
  return value === 'none' || value === 'visitor' || value === 'member';
}
