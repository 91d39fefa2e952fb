import { describe, expect, test } from 'vitest';

import { compileTexts } from '../src/compile.js';
import { type CompiledTexts, bind } from '../src/texts.ts';

const english = {
  title: 'Sign in to {site}',
  visits: '{n, plural, one {# visit} other {# visits}}',
  about: { source: 'Places by <link>GeoNames</link>' },
} as const;
const german = {
  title: 'Bei {site} anmelden',
  visits: '{n, plural, one {# Besuch} other {# Besuche}}',
  about: { source: 'Orte von <link>GeoNames</link>' },
};
const problems = (texts: Parameters<typeof compileTexts>[0], tag = 'de') => compileTexts(texts, english, tag).problems;

test('texts that go with English have no problem and can be used', () => {
  const { compiled, problems } = compileTexts(german, english, 'de');
  expect(problems).toEqual([]);
  const text = bind<typeof english>(compiled as CompiledTexts, 'de');
  expect(text.title({ site: 'Atlas' })).toBe('Bei Atlas anmelden');
  expect(text.visits({ n: 1 })).toBe('1 Besuch');
  expect(text.visits({ n: 12345 })).toBe('12.345 Besuche');
  expect(text.about.source({ link: (inside) => ({ href: inside }) })).toEqual(['Orte von ', { href: ['GeoNames'] }]);
});

describe('the build refuses', () => {
  const refused = (change: object, tag?: string) => problems({ ...german, ...change }, tag);

  test('a key that is missing', () => {
    const { visits, about } = german;
    expect(problems({ visits, about })).toEqual(['title is missing']);
    expect(refused({ about: {} })).toEqual(['about.source is missing']);
  });

  test('a key too many', () => {
    expect(refused({ old: 'Alt' })).toEqual(['old does not exist in English']);
    expect(refused({ toString: 'Alt' })).toEqual(['toString does not exist in English']);
  });

  test('a text where there are several, and the other way around', () => {
    expect(refused({ about: 'Über' })).toEqual(['about is one text, unlike English']);
    expect(refused({ title: { long: 'Titel' } })).toEqual(['title is several texts, unlike English']);
  });

  test('an empty text and a broken one', () => {
    expect(compileTexts({ a: ' ' }, { a: 'A' }, 'de').problems).toEqual(['a is empty']);
    expect(refused({ title: 'Bei {site anmelden' })[0]).toMatch(/^title is not an ICU message: /);
  });

  test('a placeholder with another name, one too few, one too many', () => {
    expect(refused({ title: 'Bei {seite} anmelden' })).toEqual([
      'title does not use the text {site}',
      'title uses the text {seite}, which English does not',
    ]);
    expect(refused({ title: 'Anmelden' })).toEqual(['title does not use the text {site}']);
    expect(refused({ title: "Bei l'{site}" })).toEqual(['title does not use the text {site}']);
  });

  test('a placeholder of another kind', () => {
    expect(refused({ title: 'Bei {site, number} anmelden' })).toEqual([
      'title does not use the text {site}',
      'title uses the number {site}, which English does not',
    ]);
    expect(refused({ about: { source: 'Orte von {link}' } })).toHaveLength(2);
  });

  test('a placeholder that stands in one plural form only', () => {
    expect(refused({ visits: '{n, plural, one {# Besuch in {place}} other {# Besuche}}' })).toEqual([
      'visits uses the text {place}, which English does not',
    ]);
  });

  test('a number that is counted in English and only shown here', () => {
    expect(refused({ visits: '{n, number} Besuche' })).toEqual(['visits has no plural forms for {n}']);
    expect(refused({ visits: '{n, number} 件' }, 'ja')).toEqual([]);
  });

  test('a plural form that is missing or never used', () => {
    expect(refused({ visits: '{n, plural, other {# visites}}' }, 'fr')).toEqual([
      'visits has no form "many" for {n}',
      'visits has no form "one" for {n}',
    ]);
    expect(refused({ visits: '{n, plural, one {#} two {#} few {#} other {#}}' }, 'ar')).toEqual([
      'visits has no form "many" for {n}',
      'visits has no form "zero" for {n}',
    ]);
    expect(refused({ visits: '{n, plural, =0 {keine} one {#} few {#} other {#}}' })).toEqual([
      'visits has a form "few" for {n}, which the language never uses',
    ]);
  });
});
