/** Where a network address is, as the server tells it. */
export interface Place {
  /** In the language that was asked for, or in English. */
  city?: string;
  /** Two letters. */
  country?: string;
}

/** Has places named in a language. */
export const inLanguage = (language: string): Readonly<Record<string, string>> => ({ 'accept-language': language });
