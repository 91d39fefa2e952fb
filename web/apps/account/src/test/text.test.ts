import { describe, expect, it } from 'vitest';
import { isSafeUrl } from '../flow/leave.ts';
import { LANGUAGES, loadCatalogue, nativeName, pickLanguage } from '../text/languages.ts';
import { loadLaterTexts } from '../text/later.ts';

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

  it.each(LANGUAGES)('%s goes with English and inflects what is counted', async (tag) => {
    const text = await loadCatalogue(tag);
    const later = await loadLaterTexts(tag);
    for (const n of [1, 2, 3, 8, 11, 100])
      for (const said of [text.problem.passwordShort({ n }), later.codesLeft({ n }), later.browsersLeft({ n })])
        expect(said).not.toMatch(/[{}#]/);
  });

  it('count in Arabic with six forms', async () => {
    const { problem } = await loadCatalogue('ar');
    expect([0, 1, 2, 8, 12, 100].map((n) => problem.passwordShort({ n }))).toEqual([
      'استخدم 0 حرف على الأقل.',
      'استخدم حرف واحد على الأقل.',
      'استخدم حرفين على الأقل.',
      'استخدم 8 أحرف على الأقل.',
      'استخدم 12 حرفًا على الأقل.',
      'استخدم 100 حرف على الأقل.',
    ]);
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
