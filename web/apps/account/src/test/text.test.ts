import { describe, expect, it } from 'vitest';
import { isSafeUrl } from '../flow/leave.ts';
import { LANGUAGES, loadCatalogue, nativeName, pickLanguage } from '../text/languages.ts';

describe('languages', () => {
  it('are picked by exact tag, then by language', () => {
    expect(pickLanguage(['de-AT', 'en'])).toBe('de');
    expect(pickLanguage([null, 'xx', 'JA'])).toBe('ja');
    expect(pickLanguage(['xx'])).toBeNull();
  });

  it('have a name of their own', () => {
    expect(LANGUAGES.map(nativeName)).toEqual([
      'العربية',
      'Deutsch',
      'English',
      'Español',
      'Français',
      'עברית',
      '日本語',
    ]);
  });

  it.each(LANGUAGES)('%s leaves no text empty and every argument in its place', async (tag) => {
    const texts = (value: unknown): string[] =>
      typeof value === 'string'
        ? [value]
        : typeof value === 'function'
          ? [check((value as (...args: string[]) => string)('7', '8'), value.length)]
          : Object.values(value as object).flatMap(texts);
    const check = (text: string, args: number) => {
      expect(text).toContain('7');
      if (args > 1) expect(text).toContain('8');
      return text;
    };
    for (const text of texts(await loadCatalogue(tag))) expect(text.trim()).not.toBe('');
  });
});

describe('addresses that may be opened', () => {
  it.each(['https://a.example/x', '/studio', 'com.example.app:/back'])('%s', (url) => {
    expect(isSafeUrl(url)).toBe(true);
  });
  it.each(['javascript:alert(1)', ' JavaScript:alert(1)', 'data:text/html,x', 'blob:https://a.example/1', 'http://['])(
    'not %s',
    (url) => {
      expect(isSafeUrl(url)).toBe(false);
    },
  );
});
