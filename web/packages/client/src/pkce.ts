/** Proof Key for Code Exchange, method S256 (RFC 7636). */
import { base64url } from './base64url.ts';

/** The secret of one sign-in and what may be shown of it. */
export interface Pkce {
  /** 43 random characters; kept here until the code is exchanged. */
  readonly verifier: string;
  /** base64url(SHA-256(verifier)); travels with the sign-in address. */
  readonly challenge: string;
}

/** A fresh pair: 32 random bytes, so 256 bits. */
export async function createPkce(): Promise<Pkce> {
  const verifier = randomText();
  return { verifier, challenge: await challengeOf(verifier) };
}

/** base64url(SHA-256(verifier)). */
export async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}

/** 43 characters with 256 bits of chance; for a verifier and for `state`. */
export function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}
