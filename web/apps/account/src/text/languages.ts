/** Which languages there are, which one a person gets, and how their texts are loaded. */
import { type Bound, languages } from '@stoa/text';
import type en from './en.ts';

export { nativeName } from '@stoa/text';

/** Every text of the account pages in one language, ready for use. */
export type Catalogue = Bound<typeof en>;

/** Adding a language is one file beside en.ts, named by its BCP 47 tag. */
export const {
  tags: LANGUAGES,
  pick: pickLanguage,
  load: loadCatalogue,
} = languages<typeof en>(import.meta.glob('./??{,-*}.ts', { query: '?icu', import: 'default' }));

export const FALLBACK = 'en';

const STORED = 'stoa.language';

/** What the person chose on these pages before, if anything. */
export function chosenLanguage(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

export function rememberLanguage(tag: string): void {
  try {
    localStorage.setItem(STORED, tag);
  } catch {
    // Storage may be closed to us; the choice then lasts as long as the page.
  }
}
