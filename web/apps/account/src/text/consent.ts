/** The texts of what members and owners are asked about applications of others, apart from the other texts. */
import { type Bound, languages } from '@stoa/text';
import type en from './consent/en.ts';

export const { load: loadConsentTexts } = languages<typeof en>(
  import.meta.glob('./consent/??{,-*}.ts', { query: '?icu', import: 'default' }),
);

export type ConsentTexts = Bound<typeof en>;
