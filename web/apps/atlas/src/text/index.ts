/** The site's languages, and how the texts of one are loaded. */
import { type Bound, languages } from '@stoa/text';

import type en from './en.ts';

/** Every text of the site in one language, ready for use. */
export type Texts = Bound<typeof en>;

/** Adding a language is one file beside en.ts, named by its BCP 47 tag. */
const site = languages<typeof en>(import.meta.glob('./??{,-*}.ts', { query: '?icu', import: 'default' }));

/** BCP 47 tags of all languages. */
export const languageTags = site.tags;

export const loadTexts = (language: string): Promise<Texts> => site.load(language, regional(language));

/** The first of the wanted tags that the site speaks: exactly, or by its language part. */
export const chooseLanguage = (wanted: readonly (string | null | undefined)[]): string => site.pick(wanted) ?? 'en';

/** The language as it is written where the person is: "en-GB" for English when the browser says so. */
export function regional(language: string): string {
  const tags = typeof navigator === 'undefined' ? [] : navigator.languages;
  return tags.find((tag) => tag.toLowerCase().startsWith(`${language}-`)) ?? language;
}
