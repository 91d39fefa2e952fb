import type en from './en.ts';

/** Every text of the account pages in one language. Adding a language is one file beside en.ts with this as its type. */
export type Catalogue = typeof en;
