/** What the compiler refuses: `tsc` fails where an expected error does not occur. */
import { expect, test } from 'vitest';

import type { Bound, Translation } from '../src/texts.ts';

const english = {
  plain: 'Back',
  named: 'Sign in to {site}',
  counted: '{n, plural, one {# visit to {place}} other {# visits to {place}}}',
  linked: 'Places by <link>GeoNames</link>',
  group: { one: 'One' },
} as const;
type English = typeof english;

export const complete = {
  plain: '',
  named: '',
  counted: '',
  linked: '',
  group: { one: '' },
} satisfies Translation<English>;

export const missing = {
  plain: '',
  named: '',
  counted: '',
  linked: '',
  // @ts-expect-error `one` is missing.
  group: {},
} satisfies Translation<English>;

export const tooMany = {
  plain: '',
  named: '',
  counted: '',
  linked: '',
  // @ts-expect-error `two` does not exist in English.
  group: { one: '', two: '' },
} satisfies Translation<English>;

export const calls = (text: Bound<English>) => {
  const plain: string = text.plain;
  const named: string = text.named({ site: 'Atlas' });
  const counted: string = text.counted({ n: 2, place: 'Rome' });
  const linked: string | (string | number)[] | number = text.linked({ link: (inside) => inside.length });
  // @ts-expect-error It takes no arguments.
  text.plain({});
  // @ts-expect-error `site` is missing.
  text.named({});
  // @ts-expect-error `sit` is not an argument.
  text.named({ sit: 'Atlas' });
  // @ts-expect-error A count is a number.
  text.counted({ n: '2', place: 'Rome' });
  // @ts-expect-error A text with an argument is not a string.
  const wrong: string = text.named;
  // @ts-expect-error There is no such text.
  const none = text.nothing;
  return [plain, named, counted, linked, wrong, none];
};

test('a translation that the types accept has the keys of the English texts', () => {
  expect(Object.keys(complete)).toEqual(Object.keys(english));
});
