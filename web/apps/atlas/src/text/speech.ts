/** A language ready for use: its texts, and numbers, dates and names as it writes them. */
import { type Language, type Plural, type Texts, fill } from './index.ts';

export interface Speech {
  readonly language: Language;
  readonly t: Texts;
  /** A text that depends on a number; `{n}` becomes the number. */
  plural(forms: Plural, n: number, more?: Readonly<Record<string, string | number>>): string;
  number(value: number): string;
  /** A calendar day `2024-03-05`, short or in full. */
  day(date: string, style?: 'medium' | 'full'): string;
  list(parts: readonly string[]): string;
  /** Name of a language by its code. */
  languageName(code: string, fallback: string): string;
  /** Name of a currency by its code. */
  currencyName(code: string): string;
  /** 48.857° N, 2.351° E */
  position(latitude: number, longitude: number): string;
  readonly compare: (a: string, b: string) => number;
}

export function speech(language: Language, t: Texts): Speech {
  const locale = regional(language);
  const number = new Intl.NumberFormat(locale);
  const rules = new Intl.PluralRules(locale);
  const lists = new Intl.ListFormat(locale, { type: 'conjunction' });
  const tongues = new Intl.DisplayNames(language, { type: 'language', fallback: 'none' });
  const currencies = new Intl.DisplayNames(language, { type: 'currency' });
  const degrees = new Intl.NumberFormat(locale, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  const points = compass[language];
  return {
    language,
    t,
    plural: (forms, n, more = {}) => fill(forms[rules.select(n)] ?? forms.other, { n: number.format(n), ...more }),
    number: (value) => number.format(value),
    day: (date, style = 'medium') =>
      new Intl.DateTimeFormat(locale, { dateStyle: style, timeZone: 'UTC' }).format(new Date(`${date}T00:00:00Z`)),
    list: (parts) => lists.format(parts),
    languageName: (code, fallback) => {
      try {
        return tongues.of(code) ?? fallback;
      } catch {
        return fallback;
      }
    },
    currencyName: (code) => {
      try {
        return currencies.of(code) ?? code;
      } catch {
        return code;
      }
    },
    position: (latitude, longitude) => {
      const part = (value: number, [plus, minus]: readonly [string, string]) =>
        `${degrees.format(Math.abs(value))}° ${value < 0 ? minus : plus}`;
      return `${part(latitude, [points[0], points[1]])}, ${part(longitude, [points[2], points[3]])}`;
    },
    compare: new Intl.Collator(language).compare,
  };
}

/** The language as it is written where the person is: "en-GB" for English when the browser says so. */
function regional(language: Language): string {
  const tags = typeof navigator === 'undefined' ? [] : navigator.languages;
  return tags.find((tag) => tag.toLowerCase().startsWith(`${language}-`)) ?? language;
}

/** North, south, east, west. */
const compass: Record<Language, readonly [string, string, string, string]> = {
  en: ['N', 'S', 'E', 'W'],
  de: ['N', 'S', 'O', 'W'],
  fr: ['N', 'S', 'E', 'O'],
  es: ['N', 'S', 'E', 'O'],
  ar: ['شمالًا', 'جنوبًا', 'شرقًا', 'غربًا'],
  he: ['צפון', 'דרום', 'מזרח', 'מערב'],
  ja: ['N', 'S', 'E', 'W'],
};
