import { fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../App.tsx';
import { routeOf } from '../flow/route.ts';
import { InstallPage } from '../my/InstallPage.tsx';
import { scopeText } from '../page/scopes.ts';
import { TextProvider } from '../page/text.ts';
import { LANGUAGES, loadCatalogue } from '../text/languages.ts';
import { loadOtherTexts } from '../text/later.ts';
import { en, expectAccessible, seenButton } from './page.tsx';
import { SITE } from './views.ts';

const ADDRESS = { appId: 'c1', redirectUrl: 'https://feed.example/in', state: 's' };
const CONSENT = {
  site: SITE,
  appName: 'Feed',
  host: 'feed.example',
  isThirdParty: true,
  scopes: ['items:read:posts', 'members:sign-in'],
};
const SCOPES = [
  ...['items', 'collections'].flatMap((area) => [
    `${area}:read`,
    `${area}:write`,
    `${area}:read:a:b`,
    `${area}:write:a:b`,
  ]),
  ...['members:read', 'members:write', 'members:sign-in', 'site:read', 'site:write'],
];

/** Each request takes the next reply; the last one stays. */
function answering(...replies: [status: number, body: unknown][]) {
  const sent: { path: string; body: unknown }[] = [];
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    const [status, body] = replies[Math.min(sent.length, replies.length - 1)] ?? [500, {}];
    sent.push({ path, body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : null });
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  });
  return sent;
}

function open(...replies: [status: number, body: unknown][]) {
  const sent = answering(...replies);
  const left: string[] = [];
  render(
    <TextProvider value={en}>
      <InstallPage address={ADDRESS} language="en" onSite={() => undefined} leave={(url) => left.push(url)} />
    </TextProvider>,
  );
  return { sent, left, user: userEvent.setup() };
}

const refusal = (code: string) => ({ message: 'x', details: { applicationError: { code, description: 'No.' } } });

describe('the page on which an owner is asked about an application', () => {
  beforeAll(() => import('../my/InstallPage.tsx'));
  beforeEach(() => {
    vi.spyOn(document, 'hasFocus').mockReturnValue(true);
  });

  it('is found by its query', async () => {
    const search = '?redirectUrl=https%3A%2F%2Ffeed.example%2Fin&appId=c1&state=s';
    expect(routeOf({ pathname: '/account/install', search, hash: '' })).toEqual({ to: 'install', address: ADDRESS });
    expect(routeOf({ pathname: '/account/install', search: '?appId=c1', hash: '' })).toEqual({ to: 'unknown' });
    const sent = answering([200, CONSENT]);
    history.replaceState(null, '', `/account/install${search}`);
    render(<App language="en" catalogue={en} languageIsGuess={false} />);
    await screen.findByRole('heading', { level: 1, name: 'Install Feed on Atlas?' }, { timeout: 5000 });
    await expectAccessible();
    expect(sent).toEqual([{ path: '/_api/account/v1/installs', body: ADDRESS }]);
  });

  it('names what is asked, whose the app is and where it goes on', async () => {
    open([200, CONSENT]);
    const list = await screen.findByRole('list', { name: 'It may then do this by itself, without asking again:' });
    expect([...list.children].map((it) => it.textContent)).toEqual([
      'Read the items of the collection posts',
      'Sign members in and act in their name',
    ]);
    expect(screen.getByText('It goes on at feed.example.')).toBeTruthy();
    expect(screen.getByText('This app is not made by the people who run Atlas.')).toBeTruthy();
    expect(screen.getByText(en.consent.installUntil)).toBeTruthy();
    expect(document.title).toBe('Install Feed on Atlas?');
    await expectAccessible();
  });

  it('says so when that is everything', async () => {
    open([200, { ...CONSENT, isThirdParty: false, scopes: null }]);
    const everything = await screen.findByText('Everything: all content, all members and all settings of the site');
    expect(everything.tagName).toBe('LI');
    expect(screen.queryByText(/not made by/)).toBeNull();
  });

  it.each([
    ['Install', 'INSTALL'],
    ['Decline', 'DECLINE'],
  ])('goes on by %s, with the keyboard too', async (name, decision) => {
    const url = 'https://feed.example/in?code=x';
    const { sent, left, user } = open([200, CONSENT], [200, { url }]);
    const button = await seenButton(name);
    expect(sent).toHaveLength(1);
    while (document.activeElement !== button) await user.tab();
    await user.keyboard('{Enter}');
    await vi.waitFor(() => {
      expect(left).toEqual([url]);
    });
    expect(sent[1]).toEqual({ path: '/_api/account/v1/installs/decide', body: { ...ADDRESS, decision } });
  });

  it('takes no press that was meant for what stood there before', async () => {
    vi.mocked(document.hasFocus).mockReturnValue(false);
    const { sent } = open([200, CONSENT]);
    const button = await screen.findByRole('button', { name: 'Install' });
    vi.mocked(document.hasFocus).mockReturnValue(true);
    fireEvent.focus(window);
    fireEvent.click(button);
    fireEvent.click(button);
    await seenButton('Install');
    expect(sent).toHaveLength(1);
  });

  it('opens no address that would run here', async () => {
    const { left, user } = open([200, CONSENT], [200, { url: 'javascript:alert(1)' }]);
    await user.click(await seenButton('Install'));
    expect(await screen.findByText(en.brokenText)).toBeTruthy();
    expect(left).toEqual([]);
  });

  it('leads those to the sign-in who are not signed in', async () => {
    open([401, refusal('UNAUTHENTICATED')]);
    const link = await screen.findByRole('link', { name: en.signIn });
    expect(link.getAttribute('href')).toBe(
      '/installer/install?redirectUrl=https%3A%2F%2Ffeed.example%2Fin&appId=c1&state=s',
    );
    await expectAccessible();
  });

  it('keeps the site that stands before its address', async () => {
    history.replaceState(null, '', '/s/s1/account/install');
    const { sent } = open([401, refusal('UNAUTHENTICATED')]);
    const link = await screen.findByRole('link', { name: en.signIn });
    expect(link.getAttribute('href')).toMatch(/^\/s\/s1\/installer\/install\?/);
    expect(sent[0]?.path).toBe('/s/s1/_api/account/v1/installs');
    history.replaceState(null, '', '/account/install');
  });

  it('tells who may install, and what is wrong with the address', async () => {
    open([403, refusal('PERMISSION_DENIED')]);
    expect(await screen.findByText('Only an owner of the site can install an app.')).toBeTruthy();
    expect(screen.queryByRole('link')).toBeNull();
  });

  it('can be asked again when there was no good answer', async () => {
    const { user } = open([500, {}], [200, CONSENT]);
    await user.click(await screen.findByRole('button', { name: en.tryAgain }));
    expect(await screen.findByRole('heading', { level: 1, name: 'Install Feed on Atlas?' })).toBeTruthy();
  });

  it.each(LANGUAGES)('has words for every scope in %s', async (tag) => {
    const text = { ...(await loadCatalogue(tag)), ...(await loadOtherTexts(tag)) };
    const words = SCOPES.map((scope) => scopeText(text, scope));
    expect(new Set(words).size).toBe(SCOPES.length);
    for (const [n, scope] of SCOPES.entries()) {
      expect(words[n]).not.toBe(scope);
      if (scope.endsWith(':a:b')) expect(words[n]).toContain('a:b');
    }
    expect(scopeText(text, 'moon:read')).toBe('moon:read');
  });
});
