/** Texts in several languages. They are ICU messages, compiled by the build (vite.js), which also compares the languages. */
export { languages, nativeName, type Languages } from './languages.ts';
export type { Bound, Text, Translation } from './texts.ts';
