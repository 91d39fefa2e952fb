/** The site's captcha: work that the person doesn't notice, or the widget of a provider. The server says which. */
import { isObject, request } from './request.ts';

const PATH = '/_api/account/v1/captcha';
/** Hashes that are under way at a time. */
const AT_ONCE = 512;

const KINDS = ['RECAPTCHA', 'RECAPTCHA_SCORE', 'HCAPTCHA', 'TURNSTILE', 'OTHER'] as const;

/** The widget of a site's provider. */
export interface Widget {
  kind: (typeof KINDS)[number];
  /** An address without a query. */
  scriptUrl: string;
  siteKey: string;
  /** Whether the person sees it and does something. */
  isVisible: boolean;
}

interface Challenge {
  challenge: string;
  bits: number;
}

type Captcha = Challenge | Widget | 'unknown widget';

/** How a site's captcha is answered: with this text, by the person in a widget, or not on these pages. */
export type CaptchaWay = { answer: string } | { widget: Widget } | 'none here';

/** The way to answer the captcha of a site; null when none could be had. */
export async function captchaWay(site: string): Promise<CaptchaWay | null> {
  const answer = await request({ path: PATH, site, isValue: isAnswer });
  if ('failure' in answer) return null;
  const captcha = captchaOf(answer.value);
  if (captcha === null) return null;
  if (captcha === 'unknown widget') return 'none here';
  if (!('challenge' in captcha)) return { widget: captcha };
  try {
    return { answer: await solve(captcha.challenge, captcha.bits) };
  } catch {
    // Without a secure context the browser makes no hashes.
    return null;
  }
}

const isAnswer = (json: unknown): json is Record<string, unknown> => isObject(json);

function captchaOf(json: Record<string, unknown>): Captcha | null {
  const { kind, challenge, bits, widget, scriptUrl, visibleSiteKey, invisibleSiteKey } = json;
  if (kind !== 'PROVIDER')
    return typeof challenge === 'string' && typeof bits === 'number' ? { challenge, bits } : null;
  const known = KINDS.find((it) => it === widget);
  const isVisible = typeof visibleSiteKey === 'string' && known !== 'RECAPTCHA_SCORE';
  const siteKey = isVisible ? visibleSiteKey : invisibleSiteKey;
  if (known === undefined || typeof scriptUrl !== 'string' || typeof siteKey !== 'string') return 'unknown widget';
  return { kind: known, scriptUrl, siteKey, isVisible };
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
