/** The texts of passkeys and of factors of owners and editors, apart from those of the first page: fetched where they are shown. */
import { type Bound, languages } from '@stoa/text';
import type en from './passkey/en.ts';

export const { load: loadPasskeyTexts } = languages<typeof en>(
  import.meta.glob('./passkey/??{,-*}.ts', { query: '?icu', import: 'default' }),
);

export type PasskeyTexts = Bound<typeof en>;
