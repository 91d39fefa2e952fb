/** The site's captcha: work instead of a question. The server says how much; the person notices nothing. */
import { isObject, request } from './request.ts';

const PATH = '/_api/account/v1/captcha';
/** Hashes that are under way at a time. */
const AT_ONCE = 512;

interface Challenge {
  challenge: string;
  bits: number;
}

/** An answer to a fresh challenge, or null when none could be had. */
export async function captchaAnswer(): Promise<string | null> {
  const answer = await request({ path: PATH, isValue: isChallenge });
  if ('failure' in answer) return null;
  try {
    return await solve(answer.value.challenge, answer.value.bits);
  } catch {
    // Without a secure context the browser makes no hashes.
    return null;
  }
}

function isChallenge(json: unknown): json is Challenge {
  return isObject(json) && typeof json['challenge'] === 'string' && typeof json['bits'] === 'number';
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
