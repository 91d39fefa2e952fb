/** The texts of sign-in by others, apart from those of the first page: they are fetched where a site has such providers. */
import { type Bound, languages } from '@stoa/text';
import type en from './provider/en.ts';

export const { load: loadProviderTexts } = languages<typeof en>(
  import.meta.glob('./provider/??{,-*}.ts', { query: '?icu', import: 'default' }),
);

export type ProviderTexts = Bound<typeof en>;
