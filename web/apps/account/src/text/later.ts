/** The texts of pages that few people open, apart from those of the first one. */
import { type Bound, languages } from '@stoa/text';
import type { Catalogue } from './languages.ts';
import type en from './later/en.ts';

export const { load: loadLaterTexts } = languages<typeof en>(
  import.meta.glob('./later/??{,-*}.ts', { query: '?icu', import: 'default' }),
);

export type LaterTexts = Bound<typeof en>;

/** Every text there is in one language. */
export type AllTexts = Catalogue & LaterTexts;
