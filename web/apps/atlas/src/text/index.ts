/** The site's languages, and how a text is taken from one. Adding a language: one file like en.ts and one line here. */
import { en } from './en.ts';

/** The shape of en.ts with any words in it. A text with `one` and `other` depends on a number. */
type Shape<Value> = {
  readonly [Key in keyof Value]: Value[Key] extends string
    ? string
    : Value[Key] extends { readonly other: string }
      ? Plural
      : Shape<Value[Key]>;
};

/** Forms by the plural category of the language; `other` always. */
export interface Plural extends Partial<Record<Intl.LDMLPluralRule, string>> {
  readonly other: string;
}

export type Texts = Shape<typeof en>;

/** Tags of all languages with the name each gives itself. */
export const languages = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  ar: 'العربية',
  he: 'עברית',
  ja: '日本語',
} as const;

export type Language = keyof typeof languages;

const load: Record<Language, () => Promise<Texts>> = {
  en: async () => en,
  de: async () => (await import('./de.ts')).de,
  fr: async () => (await import('./fr.ts')).fr,
  es: async () => (await import('./es.ts')).es,
  ar: async () => (await import('./ar.ts')).ar,
  he: async () => (await import('./he.ts')).he,
  ja: async () => (await import('./ja.ts')).ja,
};

export function loadTexts(language: Language): Promise<Texts> {
  return load[language]();
}

export function isLanguage(tag: unknown): tag is Language {
  return typeof tag === 'string' && Object.hasOwn(languages, tag);
}

/** The first of the wanted tags that the site speaks: exactly, or by its language part. */
export function chooseLanguage(wanted: readonly (string | null | undefined)[]): Language {
  for (const tag of wanted) {
    const base = tag?.toLowerCase().split('-')[0];
    if (isLanguage(base)) return base;
  }
  return 'en';
}

/** Puts values in the place of `{name}`. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Right to left? */
export function direction(language: Language): 'ltr' | 'rtl' {
  return language === 'ar' || language === 'he' ? 'rtl' : 'ltr';
}
