/** The texts of pages that few people open, apart from those of the first one. */
import { type Bound, languages } from '@stoa/text';
import type { Catalogue } from './languages.ts';
import type en from './later/en.ts';
import { loadPasskeyTexts, type PasskeyTexts } from './passkey.ts';

export const { load: loadLaterTexts } = languages<typeof en>(
  import.meta.glob('./later/??{,-*}.ts', { query: '?icu', import: 'default' }),
);

export type LaterTexts = Bound<typeof en>;

/** Those besides the first page's, with those of passkeys in a part of their own. */
export async function loadOtherTexts(tag: string): Promise<LaterTexts & { passkey: PasskeyTexts }> {
  const [later, passkey] = await Promise.all([loadLaterTexts(tag), loadPasskeyTexts(tag)]);
  return { ...later, passkey };
}

/** Every text there is in one language. */
export type AllTexts = Catalogue & Awaited<ReturnType<typeof loadOtherTexts>>;
