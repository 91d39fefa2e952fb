// Codes of an authenticator (RFC 6238), as a person would read them from one.
import { createHmac } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PERIOD_MS = 30_000;

export const currentStep = () => Math.floor(Date.now() / PERIOD_MS);

/** @param {string} secret in base32 @param {number} step of time */
export function codeAt(secret, step) {
  const bits = [...secret].map((it) => ALPHABET.indexOf(it).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((it) => parseInt(it, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const tag = createHmac('sha1', key).update(counter).digest();
  const number = tag.readUInt32BE((tag.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}
