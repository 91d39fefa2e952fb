/** The site's captcha: work instead of a question. The server says how much; the person notices nothing. */

const PATH = '/_api/account/v1/captcha';
const PATIENCE_MS = 30_000;
/** Hashes that are under way at a time. */
const AT_ONCE = 512;

/** An answer to a fresh challenge, or null when none could be had. */
export async function captchaAnswer(): Promise<string | null> {
  try {
    const response = await fetch(PATH, {
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const json = (await response.json()) as { challenge?: unknown; bits?: unknown } | null;
    if (!response.ok || typeof json?.challenge !== 'string' || typeof json.bits !== 'number') return null;
    return await solve(json.challenge, json.bits);
  } catch {
    return null;
  }
}

/** The first number that makes the hash of `challenge~number` begin with so many zero bits. */
export async function solve(challenge: string, bits: number): Promise<string> {
  const encoder = new TextEncoder();
  for (let from = 0; ; from += AT_ONCE) {
    const texts = Array.from({ length: AT_ONCE }, (_, n) => `${challenge}~${from + n}`);
    const hashes = await Promise.all(texts.map((text) => crypto.subtle.digest('SHA-256', encoder.encode(text))));
    const found = hashes.findIndex((hash) => zeroBits(new Uint8Array(hash)) >= bits);
    const answer = texts[found];
    if (answer !== undefined) return answer;
  }
}

export function zeroBits(hash: Uint8Array): number {
  const first = hash.findIndex((byte) => byte !== 0);
  return first < 0 ? hash.length * 8 : first * 8 + Math.clz32(hash[first] ?? 0) - 24;
}
