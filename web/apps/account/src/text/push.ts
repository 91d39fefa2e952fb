/** The texts of notifications as a second factor, apart from those of the first page: they are fetched where they can be used. */
import { type Bound, languages } from '@stoa/text';
import type en from './push/en.ts';

export const { load: loadPushTexts } = languages<typeof en>(
  import.meta.glob('./push/??{,-*}.ts', { query: '?icu', import: 'default' }),
);

export type PushTexts = Bound<typeof en>;
