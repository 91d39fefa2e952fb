// The messages that a server without SMTP keeps in its data directory.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A line of `outbox/mail.jsonl`.
 * @typedef {object} Message
 * @property {string} to
 * @property {string} subject
 * @property {string} text
 * @property {string} html
 * @property {string[]} links     the addresses in the text that do something
 * @property {string | null} code
 */

/** Every message to an address, oldest first. @param {string} dataDir @param {string} address @returns {Message[]} */
export function messagesTo(dataDir, address) {
  const path = join(dataDir, 'outbox', 'mail.jsonl');
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => /** @type {Message} */ (JSON.parse(line)))
    .filter(({ to }) => to === address);
}
