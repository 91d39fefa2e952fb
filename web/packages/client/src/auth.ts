/** Signing in and out through the server's own pages, and who is signed in. */
import { checkKeys } from './check.ts';
import { StoaError, invalid, record } from './error.ts';
import type { FlowStore } from './flow-store.ts';
import { createPkce, randomText } from './pkce.ts';
import type { Session } from './session.ts';

/** Where the result of a sign-in stands in the return address. */
export type ResponseMode = 'query' | 'fragment';

/** What {@link Auth.signInUrl} takes. */
export interface SignInOptions {
  /** Where the person comes back to; one of the client's registered addresses, exactly. */
  readonly redirectUri: string;
  /** Default `fragment`: a fragment reaches no server and no log. */
  readonly mode?: ResponseMode;
  /**
   * `login` asks who it is even when a session holds; `none` never asks and returns with an error instead. Without it
   * the page asks only when there is no session.
   */
  readonly prompt?: 'login' | 'none';
  /** Given back by {@link Auth.handleReturn}; for the place where the person was. */
  readonly returnTo?: string;
}

/** What {@link Auth.handleReturn} gives. */
export interface SignedIn {
  readonly returnTo: string | null;
}

/** The member who is signed in. */
export interface Member {
  /** The member's id; `_owner` of what they write. */
  readonly sub: string;
  readonly name?: string;
  readonly givenName?: string;
  readonly familyName?: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly picture?: string;
  readonly language?: string;
}

export class Auth {
  readonly #session: Session;
  readonly #clientId: string;
  readonly #flows: FlowStore;
  /** Returns under way, by `state`: an app may look at its address twice. */
  readonly #returns = new Map<string, Promise<SignedIn>>();

  /** @internal */
  constructor(session: Session, clientId: string, flows: FlowStore) {
    this.#session = session;
    this.#clientId = clientId;
    this.#flows = flows;
  }

  /** Whether the tokens are a member's. No request is made, so a session ended elsewhere shows at the next call. */
  get loggedIn(): boolean {
    return this.#session.loggedIn;
  }

  /** Calls `listener` whenever tokens change: sign-in, sign-out, renewal, in this tab or another. */
  subscribe(listener: () => void): () => void {
    return this.#session.subscribe(listener);
  }

  /**
   * The address of the sign-in page. Navigate to it; the person returns to `redirectUri`, where
   * {@link handleReturn} finishes.
   */
  async signInUrl(options: SignInOptions): Promise<string> {
    checkKeys('signInUrl', options, ['redirectUri', 'mode', 'prompt', 'returnTo']);
    const { redirectUri, mode = 'fragment', prompt, returnTo = null } = options;
    const { verifier, challenge } = await createPkce();
    const state = randomText();
    const url = await this.#redirectSession({
      auth: {
        authRequest: {
          redirectUri,
          clientId: this.#clientId,
          codeChallenge: challenge,
          codeChallengeMethod: 'S256',
          responseMode: mode,
          responseType: 'code',
          scope: 'offline_access',
          state,
        },
        ...(prompt === undefined ? {} : { prompt }),
      },
    });
    this.#flows.set(state, { codeVerifier: verifier, redirectUri, returnTo });
    return url;
  }

  /**
   * Finishes a sign-in at the return address: checks `state`, buys member tokens with `code`.
   * @param url The whole address, with its query and fragment.
   * @throws StoaError `MISSING_CODE` ('Missing code or _state'), `INVALID_STATE` ('Invalid _state'), or the page's own
   * error, for example `login_required` or `access_denied`.
   */
  async handleReturn(url: string | URL): Promise<SignedIn> {
    const answer = readReturn(url);
    const { state } = answer;
    const error = answer.error;
    if (error !== null) {
      if (state !== null) this.#flows.remove(state);
      throw new StoaError(answer.errorDescription ?? error, { code: error });
    }
    const { code } = answer;
    if (code === null || state === null) throw new StoaError('Missing code or _state', { code: 'MISSING_CODE' });

    const running = this.#returns.get(state) ?? this.#finish(code, state);
    this.#returns.set(state, running);
    return running.finally(() => this.#returns.delete(state));
  }

  /**
   * Forgets the tokens here and gives the address that ends the session on the server and then leads to `returnUrl`.
   * Navigate to it. When the server cannot be reached the tokens stay and the call fails.
   */
  async signOut(returnUrl: string): Promise<string> {
    const url = await this.#redirectSession({
      logout: { clientId: this.#clientId },
      callbacks: { postFlowUrl: returnUrl },
    });
    this.#session.clear();
    return url;
  }

  /** The member who is signed in; null for a visitor, without a request. */
  async member(options: { readonly signal?: AbortSignal } = {}): Promise<Member | null> {
    checkKeys('member', options, ['signal']);
    if (!this.loggedIn) return null;
    const call = { method: 'GET', path: '/oauth2/user-info', read: false, signal: options.signal } as const;
    return (await this.#session.call(call)) as Member;
  }

  async #finish(code: string, state: string): Promise<SignedIn> {
    const flow = this.#flows.get(state);
    if (flow === null) throw new StoaError('Invalid _state', { code: 'INVALID_STATE' });
    // A code is good for one try.
    this.#flows.remove(state);
    await this.#session.exchange(code, flow.codeVerifier, flow.redirectUri);
    return { returnTo: flow.returnTo };
  }

  async #redirectSession(body: object): Promise<string> {
    const call = { method: 'POST', path: '/v1/redirect-session', body, read: false } as const;
    const url = record(record(await this.#session.call(call))['redirectSession'])['fullUrl'];
    if (typeof url !== 'string' || url === '') {
      throw new StoaError('No redirect URL found', { code: 'NO_REDIRECT_URL', status: 200 });
    }
    return url;
  }
}

interface Return {
  readonly code: string | null;
  readonly state: string | null;
  readonly error: string | null;
  readonly errorDescription: string | null;
}

/** Reads the query or the fragment, whichever holds an answer. */
function readReturn(url: string | URL): Return {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw invalid('INVALID_ARGUMENT', 'The return address must be a whole URL.');
  }
  const parts = [parsed.searchParams, new URLSearchParams(parsed.hash.slice(1))];
  const part = parts.find((each) => each.has('code') || each.has('error') || each.has('state'));
  const read = (name: string) => part?.get(name) || null;
  return {
    code: read('code'),
    state: read('state'),
    error: read('error'),
    errorDescription: read('error_description'),
  };
}
