// @vitest-environment jsdom
import { cleanup, configure, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';

import { show } from '../test/show.tsx';
import { type Asked, type Reply, fakeSite, page } from '../test/site.ts';
import { SearchBox } from './SearchBox.tsx';

afterEach(cleanup);
// Machines of tests are slow now and then.
configure({ asyncUtilTimeout: 4000 });
vi.stubGlobal('scrollTo', () => undefined);
Element.prototype.scrollIntoView = () => undefined;

const countries = [
  { _id: 'JP', name: 'Japan', capital: ['Tokyo'], flag: '🇯🇵' },
  { _id: 'US', name: 'United States', capital: ['Washington D.C.'], flag: '🇺🇸' },
];
const tokyo = { _id: '1', name: 'Tokyo', names: ['東京'], country: 'JP', region: 'Tokyo', population: 8_336_599 };
const springfield = {
  _id: '2',
  name: 'Springfield',
  country: 'US',
  region: 'Ohio',
  population: 60_000,
  latitude: 39.924,
  longitude: -83.809,
};
const other = { ...springfield, _id: '3', population: 900, latitude: 39.5, longitude: -83.5 };

const fill = (box: HTMLElement, value: string) => {
  fireEvent.focus(box);
  fireEvent.change(box, { target: { value } });
};

/** The words of a search for places; undefined for any other question. */
function wordsFor({ path, body }: Asked): { expression: string; fuzzy: boolean } | undefined {
  if (!path.endsWith('/items/search') || body['dataCollectionId'] !== 'cities') return undefined;
  return (body['search'] as { search: { expression: string; fuzzy: boolean } }).search;
}

interface Answers {
  readonly isCurrent?: boolean;
  readonly countriesFound?: () => Reply | Promise<Reply>;
}

async function open(
  places: (words: { expression: string; fuzzy: boolean }) => Reply | Promise<Reply>,
  { isCurrent = true, countriesFound = () => page([]) }: Answers = {},
) {
  const site = fakeSite((asked) => {
    const words = wordsFor(asked);
    if (words !== undefined) return places(words);
    if (asked.path.endsWith('/lag')) return { isCurrent };
    return asked.path.endsWith('/items/query') ? page(countries) : countriesFound();
  });
  const router = await show(site, <SearchBox />);
  const box = await screen.findByRole('combobox');
  return { box, router, asked: site.asked };
}

test('what is typed is asked for when the typing rests, and arrows and Enter choose', async () => {
  const { box, router, asked } = await open(() => page([tokyo]));
  fill(box, '東京');
  const option = await screen.findByRole('option', { name: /Tokyo 東京 Japan 8,336,599/ });
  expect(asked.flatMap((each) => wordsFor(each)?.expression ?? [])).toEqual(['東京*', '東京']);
  expect(screen.getByText('1 suggestion').getAttribute('role')).toBe('status');
  box.focus();
  await userEvent.keyboard('{ArrowDown}');
  expect(box.getAttribute('aria-activedescendant')).toBe(option.id);
  expect(option.getAttribute('aria-selected')).toBe('true');
  await userEvent.keyboard('{Enter}');
  await waitFor(() => expect(router.state.location.pathname).toBe('/places/1'));
  expect(box.getAttribute('aria-expanded')).toBe('false');
});

test('places that look alike are told apart', async () => {
  const { box } = await open(() => page([springfield, other]));
  fill(box, 'springf');
  await screen.findByRole('option', { name: /Springfield 39\.924° N, 83\.809° W, Ohio, United States 60,000/ });
  await screen.findByRole('option', { name: /Springfield 39\.500° N, 83\.500° W, Ohio, United States 900/ });
});

test('names that are only like it are said to be so', async () => {
  const { box } = await open(({ fuzzy }) => page(fuzzy ? [springfield] : []));
  fill(box, 'sprinfgield');
  await screen.findByRole('group', { name: 'Nothing is called “sprinfgield”. Names like it:' });
  expect(screen.getByText(/Names like it: 1 suggestion/).getAttribute('role')).toBe('status');
});

test('all that is found has a page of its own', async () => {
  const { box, router } = await open(() => page([springfield]));
  fill(box, 'springfield');
  await userEvent.click(await screen.findByRole('option', { name: 'All places found for “springfield”' }));
  await waitFor(() => expect(router.state.location.searchStr).toBe('?q=springfield'));
});

test('nothing, and no answer, are said', async () => {
  const { box } = await open(({ expression }) => (expression.startsWith('bad') ? 400 : page([])));
  fill(box, 'qqqq');
  await screen.findByText('Nothing is called “qqqq”, or anything like it.');
  fill(box, 'bad');
  await screen.findByText('The search did not answer. Type on to try again.');
});

test('suggestions of an earlier text go at once unless they fit the new one', async () => {
  const waiting: ((reply: Reply) => void)[] = [];
  const { box } = await open(({ expression }) =>
    expression.startsWith('to') ? page([tokyo]) : new Promise<Reply>((done) => waiting.push(done)),
  );
  fill(box, 'tok');
  await screen.findByRole('option', { name: /Tokyo/ });
  fill(box, 'spr');
  expect(screen.queryByRole('option', { name: /Tokyo/ })).toBeNull();
  await screen.findByText('Searching…');
  await waitFor(() => expect(waiting).toHaveLength(2));
  for (const answer of waiting) answer(page([springfield]));
  await screen.findByRole('option', { name: /Springfield/ });
});

test('Enter waits for the countries, which stand before the places', async () => {
  let answer: (reply: Reply) => void = () => undefined;
  const countriesFound = () => new Promise<Reply>((done) => (answer = done));
  const { box, router } = await open(() => page([tokyo, springfield]), { countriesFound });
  fill(box, '日本');
  await screen.findByRole('option', { name: /Tokyo/ });
  box.focus();
  await userEvent.keyboard('{Enter}');
  expect(router.state.location.pathname).toBe('/');
  await userEvent.keyboard('{ArrowDown}');
  const chosen = box.getAttribute('aria-activedescendant');
  answer(page([countries[0] as (typeof countries)[0]]));
  await screen.findByRole('option', { name: /Japan Tokyo/ });
  // The one that was heard stays chosen.
  expect(box.getAttribute('aria-activedescendant')).toBe(chosen);
  await userEvent.keyboard('{Enter}');
  await waitFor(() => expect(router.state.location.pathname).toBe('/places/1'));
});

test('Enter opens a country by its name in another language', async () => {
  const { box, router } = await open(() => page([springfield]), {
    countriesFound: () => page([countries[0] as (typeof countries)[0]]),
  });
  fill(box, '日本');
  await screen.findByRole('option', { name: /Japan Tokyo/ });
  box.focus();
  await userEvent.keyboard('{Enter}');
  await waitFor(() => expect(router.state.location.pathname).toBe('/countries/JP'));
});

test('while names are indexed, what is like it is not said to be all', async () => {
  const { box } = await open(({ fuzzy }) => page(fuzzy ? [springfield] : []), { isCurrent: false });
  fill(box, 'york');
  await screen.findByText(/still being indexed/);
  await screen.findByRole('option', { name: /Springfield/ });
  expect(screen.queryByText(/Nothing is called/)).toBeNull();
});
