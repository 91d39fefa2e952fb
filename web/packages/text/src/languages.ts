/** Which languages there are, which one a person gets, and how its texts are loaded. */
import { type Bound, type CompiledTexts, bind } from './texts.ts';

/** The language of which every other one is a translation. */
const fallback = 'en';

export interface Languages<English> {
  /** BCP 47 tags, one for each file. */
  readonly tags: readonly string[];
  /** The best of the languages for a list of wishes, by exact tag and then by language alone. */
  pick(wishes: readonly (string | null | undefined)[]): string | null;
  /** The texts of a language. @param locale how numbers are written, when that is not known by the language alone. */
  load(tag: string, locale?: string): Promise<Bound<English>>;
}

/** @param files `import.meta.glob('./??{,-*}.ts', { query: '?icu', import: 'default' })`: one file for each language. */
export function languages<English>(files: Record<string, () => Promise<unknown>>): Languages<English> {
  const loaders = new Map(
    Object.entries(files).map(([path, load]) => [path.slice(path.lastIndexOf('/') + 1, -3), load]),
  );
  const tags = [...loaders.keys()].sort();
  return {
    tags,
    pick(wishes) {
      for (const wish of wishes) {
        if (!wish) continue;
        const tag = wish.toLowerCase();
        const language = tag.split('-')[0];
        const found =
          tags.find((each) => each.toLowerCase() === tag) ?? tags.find((each) => each.toLowerCase() === language);
        if (found !== undefined) return found;
      }
      return null;
    },
    async load(tag, locale = tag) {
      const load = loaders.get(tag) ?? loaders.get(fallback);
      if (load === undefined) throw new Error(`no texts for ${tag}`);
      return bind<English>((await load()) as CompiledTexts, locale);
    },
  };
}

/** A language's own name for itself. */
export function nativeName(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}
