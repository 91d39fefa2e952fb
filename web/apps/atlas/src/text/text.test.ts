import { expect, test } from 'vitest';

import { chooseLanguage, languageTags, loadTexts } from './index.ts';
import { speech } from './speech.ts';

test.each(languageTags)('%s goes with English and inflects what is counted', async (tag) => {
  const { journal, home } = await loadTexts(tag);
  for (const n of [0, 1, 2, 3, 5, 11, 21, 100, 1_000_000]) {
    expect(journal.lead({ n })).not.toMatch(/[{}#]/);
    expect(home.lead({ places: n, countries: n })).not.toMatch(/[{}#]/);
  }
});

test('a number takes the form that the language has for it', async () => {
  const lead = async (tag: string, ...numbers: number[]) => {
    const { places } = await loadTexts(tag);
    return numbers.map((n) => places.lead({ n }));
  };
  expect(await lead('en', 0, 1, 2)).toEqual(['0 places', '1 place', '2 places']);
  expect(await lead('fr', 0, 1, 2, 1_000_000)).toEqual(['0 lieu', '1 lieu', '2 lieux', '1\u202f000\u202f000 de lieux']);
  expect(await lead('he', 1, 2, 3)).toEqual(['מקום אחד', 'שני מקומות', '3 מקומות']);
  expect(await lead('ja', 1, 2)).toEqual(['1 か所', '2 か所']);
  expect(await lead('ar', 0, 1, 2, 3, 11, 100)).toEqual([
    'لا أماكن',
    'مكان واحد',
    'مكانان',
    '3 أماكن',
    '11 مكانًا',
    '100 مكان',
  ]);
});

test('a text with links keeps them where the language has them', async () => {
  const { about } = await loadTexts('ja');
  expect(about.countries({ package: ([name]) => `[${name}]`, licence: ([name]) => `(${name})` })).toBe(
    '国：[world-countries]、ライセンス (ODbL 1.0)。',
  );
});

test('the language is the first wanted one that the site speaks', () => {
  expect(chooseLanguage([null, 'pt-BR', 'de-AT', 'en'])).toBe('de');
  expect(chooseLanguage(['xx', undefined])).toBe('en');
  expect(chooseLanguage(['toString'])).toBe('en');
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
