/** A language ready for use: its texts, and numbers, dates and names as it writes them. */
import { type Texts, regional } from './index.ts';

export interface Speech {
  readonly language: string;
  readonly t: Texts;
  number(value: number): string;
  /** A large number in few figures: 4.1B. */
  roughly(value: number): string;
  /** A part of 1 as a percentage. */
  percent(part: number): string;
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

export function speech(language: string, t: Texts): Speech {
  const locale = regional(language);
  const number = new Intl.NumberFormat(locale);
  const rough = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 });
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const lists = new Intl.ListFormat(locale, { type: 'conjunction' });
  const tongues = new Intl.DisplayNames(language, { type: 'language', fallback: 'none' });
  const currencies = new Intl.DisplayNames(language, { type: 'currency' });
  const degrees = new Intl.NumberFormat(locale, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  return {
    language,
    t,
    number: (value) => number.format(value),
    roughly: (value) => rough.format(value),
    percent: (part) => percent.format(part),
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
      const { north, south, east, west } = t.compass;
      const part = (value: number, plus: string, minus: string) =>
        `${degrees.format(Math.abs(value))}° ${value < 0 ? minus : plus}`;
      return `${part(latitude, north, south)}, ${part(longitude, east, west)}`;
    },
    compare: new Intl.Collator(language).compare,
  };
}
