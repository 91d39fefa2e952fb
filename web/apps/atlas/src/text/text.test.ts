import { describe, expect, test } from 'vitest';

import { type Plural, chooseLanguage, fill, isLanguage, languages, loadTexts } from './index.ts';
import { speech } from './speech.ts';

const tags = Object.keys(languages).filter(isLanguage);

/** Every text with its path; forms of a plural count as one text. */
function leaves(value: object, path = ''): [string, string | Plural][] {
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) => {
    const here = `${path}.${key}`;
    if (typeof each === 'string') return [[here, each]];
    return 'other' in (each as object) ? [[here, each as Plural]] : leaves(each as object, here);
  });
}

const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

describe.each(tags)('%s', (tag) => {
  test('has every text, with the values of the English one', async () => {
    const english = new Map(leaves(await loadTexts('en')));
    const mine = new Map(leaves(await loadTexts(tag)));
    expect([...mine.keys()]).toEqual([...english.keys()]);
    for (const [path, text] of mine) {
      const wanted = english.get(path);
      const form = (each: string | Plural | undefined) => names(typeof each === 'object' ? each.other : (each ?? ''));
      expect(form(text), path).toEqual(form(wanted));
      expect(typeof text === 'string' ? text : text.other, path).not.toBe('');
    }
  });

  test('has every plural form that its numbers need', async () => {
    const texts = await loadTexts(tag);
    const spoken = speech(tag, texts);
    for (const n of [0, 1, 2, 3, 5, 11, 21, 100, 1000]) {
      expect(spoken.plural(texts.journal.lead, n)).not.toMatch(/[{}]/);
    }
  });
});

test('the language is the first wanted one that the site speaks', () => {
  expect(chooseLanguage([null, 'pt-BR', 'de-AT', 'en'])).toBe('de');
  expect(chooseLanguage(['xx', undefined])).toBe('en');
  expect(chooseLanguage(['toString'])).toBe('en');
});

test('fill leaves unknown names as they are', () => {
  expect(fill('{a} of {b}', { a: 1 })).toBe('1 of {b}');
});

test('positions, days and names are written as the language writes them', async () => {
  const de = speech('de', await loadTexts('de'));
  expect(de.position(-33.8678, 151.2073)).toBe('33,868° S, 151,207° O');
  expect(de.number(135233)).toBe('135.233');
  expect(de.day('2024-03-05')).toBe('05.03.2024');
  expect(de.languageName('fra', 'French')).toBe('Französisch');
  expect(de.languageName('not a code', 'French')).toBe('French');
  expect(de.currencyName('EUR')).toBe('Euro');
});
