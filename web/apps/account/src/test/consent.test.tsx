import { fireEvent, screen, waitFor } from '@testing-library/react';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { LANGUAGES, loadCatalogue } from '../text/languages.ts';
import { loadLaterTexts, loadOtherTexts } from '../text/later.ts';
import { en, expectAccessible, openPage, seenButton } from './page.tsx';
import { VIEWS, viewOf } from './views.ts';

const FLOW = '/account/flow/aaaa.first';
const asked = VIEWS.CONSENT[0]?.view ?? viewOf({ type: 'DONE', message: 'SIGNED_IN' });
const signOnAlone = VIEWS.CONSENT[1]?.view ?? asked;
const signIn = VIEWS.SIGN_IN[0]?.view ?? asked;
const TITLE = 'Let Ledger act for you at Atlas?';

beforeAll(
  () =>
    Promise.all([
      import('../steps/later.ts'),
      import('../steps/Consent.tsx'),
      import('../page/WithLaterTexts.tsx'),
      loadLaterTexts('en'),
    ]),
  30_000,
);

beforeEach(() => {
  vi.spyOn(document, 'hasFocus').mockReturnValue(true);
});

describe('the page on which a member is asked about an application of others', () => {
  it('names application, site, account, where it goes on and what it asks for', async () => {
    const { sent } = openPage(FLOW, asked);
    const list = await screen.findByRole('list', { name: en.consent.may });
    expect([...list.children].map((it) => it.textContent)).toEqual([
      'Read the items of the collection posts',
      'Read the profiles and addresses of all members',
    ]);
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe(TITLE);
    expect(document.title).toBe(TITLE);
    expect(screen.getByText(/You are signed in as mara@example.org\. It goes on at ledger\.example\./)).toBeTruthy();
    expect(screen.getByText('This app is not made by the people who run Atlas.')).toBeTruthy();
    expect(screen.getByText(en.consent.until)).toBeTruthy();
    // Opening it changes nothing, and no link leads past the answer.
    expect(sent).toHaveLength(1);
    expect(screen.queryByRole('button', { name: en.back })).toBeNull();
    expect(screen.queryByRole('button', { name: en.returnTo({ site: 'Atlas' }) })).toBeNull();
    await expectAccessible();
  });

  it('says so when it only asks who the member is', async () => {
    openPage(FLOW, signOnAlone);
    expect((await screen.findByText(en.appMayKnow)).tagName).toBe('LI');
    expect(screen.queryByText(/It goes on at/)).toBeNull();
  });

  it.each([
    [en.consent.allow, 'ALLOW'],
    [en.decline, 'DECLINE'],
  ])('answers by %s, with the keyboard, once', async (name, type) => {
    const { inputs, user } = openPage(FLOW, asked, 'never');
    const button = await seenButton(name);
    while (document.activeElement !== button) await user.tab();
    await user.keyboard('{Enter}{Enter}');
    await waitFor(() => {
      expect(inputs()).toEqual([{ type }]);
    });
  });

  it('takes no press that was meant for what stood there before', async () => {
    vi.mocked(document.hasFocus).mockReturnValue(false);
    const { inputs, user } = openPage(FLOW, asked, 'never');
    const button = await screen.findByRole('button', { name: en.consent.allow });
    const isOff = () => [button.getAttribute('aria-disabled'), button.hasAttribute('disabled')];
    // While another window has the focus, however long.
    await new Promise((resolve) => setTimeout(resolve, 700));
    fireEvent.click(button);
    expect([isOff(), inputs()]).toEqual([['true', false], []]);
    for (const gone of ['blur', 'visibilitychange']) {
      // When it comes to the front, once and twice.
      vi.mocked(document.hasFocus).mockReturnValue(true);
      fireEvent.focus(window);
      fireEvent.click(button);
      fireEvent.click(button);
      expect([isOff(), inputs()]).toEqual([['true', false], []]);
      await seenButton(en.consent.allow);
      vi.mocked(document.hasFocus).mockReturnValue(false);
      fireEvent(gone === 'blur' ? window : document, new Event(gone));
      fireEvent.click(button);
      expect([isOff(), inputs()]).toEqual([['true', false], []]);
    }
    vi.mocked(document.hasFocus).mockReturnValue(true);
    fireEvent.focus(window);
    await user.click(await seenButton(en.consent.allow));
    await waitFor(() => {
      expect(inputs()).toEqual([{ type: 'ALLOW' }]);
    });
  });

  it('has the focus on its question after the sign-in', async () => {
    const { user } = openPage(FLOW, signIn, asked);
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.type(screen.getByLabelText('Password'), 'a b c{Enter}');
    const heading = await screen.findByRole('heading', { level: 1, name: TITLE });
    await waitFor(() => {
      expect(document.activeElement).toBe(heading);
    });
  });

  it('says why an answer did not count, and what to do when it is over', async () => {
    const moved = { ...asked, problems: [{ field: null, code: 'STEP_CHANGED', message: 'Moved on.' }] };
    const gone = { status: 400, body: { details: { applicationError: { code: 'INVALID_STATE_TOKEN' } } } };
    const { user } = openPage(FLOW, moved, gone);
    expect(await screen.findByText(en.problem.movedOn)).toBeTruthy();
    await user.click(await seenButton(en.consent.allow));
    expect(await screen.findByText(en.expiredTitle)).toBeTruthy();
    await expectAccessible();
  });

  it('stays when there is no connection', async () => {
    const { user } = openPage(FLOW, asked, 'no answer');
    await user.click(await seenButton(en.consent.allow));
    expect(await screen.findByText(en.offlineTitle)).toBeTruthy();
    expect(screen.getByRole('heading', { level: 1, name: TITLE })).toBeTruthy();
  });

  it.each(LANGUAGES)('asks in %s', async (tag) => {
    const text = { ...(await loadCatalogue(tag)), ...(await loadOtherTexts(tag)) };
    const title = text.consent.title({ app: 'Ledger', site: 'Atlas' });
    expect(title).toContain('Ledger');
    expect(title).toContain('Atlas');
    for (const words of [text.consent.may, text.consent.until, text.consent.allow, text.decline])
      expect(words.length).toBeGreaterThan(1);
    expect(text.consent.allow).not.toBe(text.decline);
  });
});
