/** Which languages there are, which one a person gets, and how a catalogue is loaded. */
import type { Catalogue } from './catalogue.ts';

const files = import.meta.glob<{ default: Catalogue }>([
  './*.ts',
  '!./*.test.ts',
  '!./catalogue.ts',
  '!./languages.ts',
  '!./problems.ts',
]);

/** BCP 47 tags, one for each file. */
export const LANGUAGES: readonly string[] = Object.keys(files)
  .map((path) => path.slice(2, -3))
  .sort();

export const FALLBACK = 'en';

/** The best of our languages for a wish list, by exact tag and then by language alone. */
export function pickLanguage(wishes: readonly (string | null | undefined)[]): string | null {
  for (const wish of wishes) {
    if (!wish) continue;
    const tag = wish.toLowerCase();
    const found =
      LANGUAGES.find((it) => it.toLowerCase() === tag) ??
      LANGUAGES.find((it) => it.toLowerCase() === tag.split('-')[0]);
    if (found !== undefined) return found;
  }
  return null;
}

export async function loadCatalogue(tag: string): Promise<Catalogue> {
  const load = files[`./${tag}.ts`] ?? files[`./${FALLBACK}.ts`];
  if (!load) throw new Error('no catalogue');
  return (await load()).default;
}

/** A language's own name for itself. */
export function nativeName(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

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
