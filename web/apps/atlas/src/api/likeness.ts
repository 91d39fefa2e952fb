/** How near a place is to what a person typed. What is found is the server's business; this puts the best first. */
import { fold } from '../text/fold.ts';
import type { City } from './cities.ts';

type Named = Pick<City, 'name' | 'names'>;

/** How much a name counts, beside the logarithm of how many people live there. */
const exactly = 4;
const withRegion = 2;
const wholeWords = 1.5;
const beginning = 1;
/** A name in another language that is not typed in full says little. */
const elsewhere = 0.5;

const long: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };

/** The forms of a name that mean the same to a search: `munchen` and `muenchen`. */
export function spellings(name: string): readonly string[] {
  const plain = fold(name);
  const written = fold(name.normalize('NFC').replace(/[äöüåø]/giu, (letter) => long[letter.toLowerCase()] ?? letter));
  return plain === written ? [plain] : [plain, written];
}

const namesOf = ({ name, names = [] }: Named): readonly string[] => [name, ...names];

/** All that a place may be called in full: "Washington, D.C." is Washington too, and "Halle (Saale)" Halle. */
const fullNamesOf = (place: Named): readonly string[] =>
  [...namesOf(place), place.name.split(/\s*[,(]/u)[0] ?? ''].filter((name) => name !== '');

const isSome = (names: readonly string[], typed: string, fits: (name: string, typed: string) => boolean): boolean =>
  names.some((name) => spellings(name).some((one) => spellings(typed).some((other) => fits(one, other))));

/** Whether one of the place's names is what was typed. */
export const isCalled = (place: Named, typed: string): boolean =>
  isSome(fullNamesOf(place), typed, (name, text) => name === text);

/** Whether each word that was typed begins a word of one and the same name. */
export const fits = (place: Named, typed: string): boolean => isSome(namesOf(place), typed, holdsWords);

function holdsWords(name: string, typed: string): boolean {
  const words = ` ${name}`;
  return typed !== '' && typed.split(' ').every((word) => words.includes(` ${word}`));
}

/** The other name by which a place was found, when its own does not say why it is there. */
export function foundBy(place: Named, typed: string): string | undefined {
  if (isSome([place.name], typed, holdsWords)) return undefined;
  const others = namesOf(place).slice(1);
  return (
    others.find((name) => isSome([name], typed, (one, text) => one === text)) ??
    others.find((name) => isSome([name], typed, holdsWords))
  );
}

/** The order in which a person means places: by how many people live there, and above all by the name. */
export function inOrder(places: readonly City[], typed: string): City[] {
  const ranked = places.map((place) => ({ place, score: Math.log10(Math.max(1, place.population)) + likeness(place) }));
  return ranked.sort((a, b) => b.score - a.score || b.place.population - a.place.population).map(({ place }) => place);

  function likeness(place: City): number {
    const [own, all] = [[place.name], namesOf(place)];
    if (isCalled(place, typed)) return exactly;
    // "Paris Texas"
    if (isSome(all, typed, (one, text) => text.startsWith(`${one} `))) return withRegion;
    if (isSome(own, typed, holdsWholeWords)) return wholeWords;
    if (isSome(own, typed, (one, text) => one.startsWith(text))) return beginning;
    return isSome(all, typed, (one, text) => one.startsWith(text)) ? elsewhere : 0;
  }
}

const holdsWholeWords = (name: string, typed: string): boolean =>
  typed.split(' ').every((word) => ` ${name} `.includes(` ${word} `));

/** The ids of places that share name, region and country with another of the list: only their position differs. */
export function lookAlikes(places: readonly City[]): ReadonlySet<string> {
  const label = ({ name, region = '', country }: City) => JSON.stringify([name, region, country]);
  const counts = new Map<string, number>();
  for (const place of places) counts.set(label(place), (counts.get(label(place)) ?? 0) + 1);
  return new Set(places.filter((place) => (counts.get(label(place)) ?? 0) > 1).map(({ _id }) => _id));
}
