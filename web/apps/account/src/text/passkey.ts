/** The texts of passkeys, apart from those of the first page: they are fetched where a passkey can be used. */
import { type Bound, languages } from '@stoa/text';
import type en from './passkey/en.ts';

export const { load: loadPasskeyTexts } = languages<typeof en>(
  import.meta.glob('./passkey/??{,-*}.ts', { query: '?icu', import: 'default' }),
);

export type PasskeyTexts = Bound<typeof en>;
