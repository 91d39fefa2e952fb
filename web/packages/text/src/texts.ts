/** Compiled texts made ready for use, and their types. */
import type { GetICUArgs } from '@schummar/icu-type-parser';
import format, { type CompiledMessage, type FormatOptions } from 'icu-minify/format';

/** What a file of texts has to hold beside the English one. What stands in the texts is compared by the build. */
export type Translation<English> = {
  readonly [Key in keyof English]: English[Key] extends string ? string : Translation<English[Key]>;
};

/** The English texts ready for use: a string, or a function of the arguments. */
export type Bound<English> = {
  readonly [Key in keyof English]: English[Key] extends string ? Text<English[Key]> : Bound<English[Key]>;
};

/** One text. With `<tags>` it gives a list, in which each tag is what its function made of the text inside. */
export type Text<Message extends string> = [Tags<Message>] extends [never]
  ? [keyof Arguments<Message>] extends [never]
    ? string
    : (values: Arguments<Message>) => string
  : <Element>(
      values: Arguments<Message> & Record<Tags<Message>, (inside: (string | Element)[]) => Element>,
    ) => string | Element | (string | Element)[];

type Arguments<Message extends string> = GetICUArgs<
  Message,
  { ICUArgument: string; ICUNumberArgument: number; ICUDateArgument: Date }
>;
type Tags<Message> = Message extends `${string}</${infer Name}>${infer Rest}` ? Name | Tags<Rest> : never;

export interface CompiledTexts {
  readonly [key: string]: CompiledMessage | CompiledTexts;
}

/** The texts of a language. @param locale how numbers are written: the language, or the language of a region. */
export function bind<English>(texts: CompiledTexts, locale: string): Bound<English> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, isMessage(text) ? bindOne(text, locale) : bind(text, locale)]),
  ) as Bound<English>;
}

function bindOne(text: CompiledMessage, locale: string) {
  if (typeof text === 'string') return text;
  return (values: Parameters<typeof format>[2]) => format(text, locale, values, { formats, formatters });
}

const isMessage = (text: CompiledMessage | CompiledTexts): text is CompiledMessage =>
  typeof text === 'string' || Array.isArray(text);

/** What a text says of a date by `{name, date, long}`. */
const formats: NonNullable<FormatOptions['formats']> = { dateTime: { long: { dateStyle: 'long' } } };

const formatters: FormatOptions['formatters'] = {
  getDateTimeFormat: (...args) => new Intl.DateTimeFormat(...args),
  getNumberFormat: (...args) => new Intl.NumberFormat(...args),
  getPluralRules: (...args) => new Intl.PluralRules(...args),
};
