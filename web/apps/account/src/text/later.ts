/** The texts of pages that few people open, apart from those of the first one. */
import { type Bound, languages } from '@stoa/text';
import type { Catalogue } from './languages.ts';
import { type ConsentTexts, loadConsentTexts } from './consent.ts';
import type en from './later/en.ts';
import { loadPasskeyTexts, type PasskeyTexts } from './passkey.ts';
import { loadProviderTexts, type ProviderTexts } from './provider.ts';
import { loadPushTexts, type PushTexts } from './push.ts';

export const { load: loadLaterTexts } = languages<typeof en>(
  import.meta.glob('./later/??{,-*}.ts', { query: '?icu', import: 'default' }),
);

export type LaterTexts = Bound<typeof en>;

/** Those besides the first page's, with those of passkeys, consent, notifications and providers in parts of their own. */
export async function loadOtherTexts(
  tag: string,
): Promise<LaterTexts & { passkey: PasskeyTexts; consent: ConsentTexts; push: PushTexts; provider: ProviderTexts }> {
  const [later, passkey, consent, push, provider] = await Promise.all([
    loadLaterTexts(tag),
    loadPasskeyTexts(tag),
    loadConsentTexts(tag),
    loadPushTexts(tag),
    loadProviderTexts(tag),
  ]);
  return { ...later, passkey, consent, push, provider };
}

/** Every text there is in one language. */
export type AllTexts = Catalogue & Awaited<ReturnType<typeof loadOtherTexts>>;
