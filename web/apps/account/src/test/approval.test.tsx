import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { App } from '../App.tsx';
import { routeOf } from '../flow/route.ts';
import { en, expectAccessible } from './page.tsx';
import { SITE } from './views.ts';

const PENDING = {
  site: SITE,
  siteName: 'Atlas',
  name: 'Anna Beispiel',
  email: 'anna@example.org',
  emailVerified: false,
  createdDate: '2026-01-01T12:00:00.000Z',
  state: 'PENDING',
};

/** Opens the page of a link; each request takes the next reply, the last one stays. */
function open(...replies: [status: number, body: unknown][]) {
  const sent: { path: string; method: string | undefined; body: unknown }[] = [];
  let idx = 0;
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    const [status, body] = replies[Math.min(idx, replies.length - 1)] ?? [500, {}];
    idx += 1;
    sent.push({
      path,
      method: init.method,
      body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : null,
    });
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  });
  history.replaceState(null, '', '/account/approve#a1.secret');
  render(<App language="en" catalogue={en} languageIsGuess={false} />);
  return { sent, user: userEvent.setup() };
}

describe('the page of an approval link', () => {
  // It is fetched when it is needed; here the first test must not wait for that.
  beforeAll(() => import('../page/ApprovalPage.tsx'));

  it('is found by what stands behind #', () => {
    expect(routeOf({ pathname: '/account/approve', search: '', hash: '#a1.x' })).toEqual({
      to: 'approve',
      token: 'a1.x',
    });
    expect(routeOf({ pathname: '/account/approve', search: '?token=a1.x', hash: '' })).toEqual({ to: 'unknown' });
  });

  it('changes nothing by being opened, and approves with one press', async () => {
    const { sent, user } = open([200, PENDING], [200, { ...PENDING, state: 'APPROVED' }]);
    expect(
      await screen.findByRole('heading', { level: 1, name: 'Anna Beispiel asks to join Atlas' }, { timeout: 5000 }),
    ).toBeTruthy();
    await expectAccessible();
    expect(sent).toEqual([{ path: '/_api/account/v1/approvals', method: 'POST', body: { token: 'a1.secret' } }]);
    await user.click(screen.getByRole('button', { name: 'Approve' }));
    expect(
      await screen.findByRole('heading', { level: 1, name: 'Anna Beispiel can sign in now' }, { timeout: 5000 }),
    ).toBeTruthy();
    expect(sent[1]).toEqual({
      path: '/_api/account/v1/approvals/decide',
      method: 'POST',
      body: { token: 'a1.secret', decision: 'APPROVE' },
    });
    await expectAccessible();
  });

  it('asks again before it declines, and lets go back', async () => {
    const { sent, user } = open([200, PENDING], [200, { ...PENDING, state: 'DECLINED' }]);
    await user.click(await screen.findByRole('button', { name: 'Decline' }));
    expect(screen.getByRole('heading', { level: 1, name: 'Decline Anna Beispiel?' })).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Back' }));
    expect(screen.getByRole('button', { name: 'Approve' })).toBeTruthy();
    expect(sent).toHaveLength(1);
    await user.click(screen.getByRole('button', { name: 'Decline' }));
    await user.click(screen.getByRole('button', { name: 'Decline' }));
    expect(await screen.findByRole('heading', { level: 1, name: 'Anna Beispiel was declined' })).toBeTruthy();
    expect(sent).toHaveLength(2);
  });

  it('says when there is nothing to decide, and when there is no answer', async () => {
    open([400, { message: 'x' }]);
    await waitFor(() => {
      expect(document.title).toBe('There is nothing left to decide');
    });
    expect(await screen.findByRole('heading', { level: 1, name: 'There is nothing left to decide' })).toBeTruthy();
    await expectAccessible();
  });

  it('can be asked again after too many requests, which say nothing about the link', async () => {
    const { user } = open([429, {}], [200, PENDING]);
    await user.click(await screen.findByRole('button', { name: 'Try again' }));
    await screen.findByRole('heading', { level: 1, name: 'Anna Beispiel asks to join Atlas' });
  });

  it('shows the request of another link that is opened in the same tab', async () => {
    const { sent, user } = open([200, PENDING], [200, { ...PENDING, name: 'Bob Beispiel' }]);
    await screen.findByRole('heading', { level: 1, name: 'Anna Beispiel asks to join Atlas' });
    act(() => {
      history.replaceState(null, '', '/account/approve#a1.other');
      dispatchEvent(new HashChangeEvent('hashchange'));
    });
    await screen.findByRole('heading', { level: 1, name: 'Bob Beispiel asks to join Atlas' });
    await user.click(screen.getByRole('button', { name: 'Approve' }));
    expect(sent.map((it) => it.body)).toEqual([
      { token: 'a1.secret' },
      { token: 'a1.other' },
      { token: 'a1.other', decision: 'APPROVE' },
    ]);
  });

  it('takes the focus along to each question and to its answer', async () => {
    const { user } = open([200, PENDING], [200, { ...PENDING, state: 'DECLINED' }]);
    const focused = () => document.activeElement?.textContent;
    await user.click(await screen.findByRole('button', { name: 'Decline' }));
    expect(focused()).toBe('Decline Anna Beispiel?');
    await user.click(screen.getByRole('button', { name: 'Back' }));
    expect(focused()).toBe('Anna Beispiel asks to join Atlas');
    await user.click(screen.getByRole('button', { name: 'Decline' }));
    await user.click(screen.getByRole('button', { name: 'Decline' }));
    await waitFor(() => {
      expect(focused()).toBe('Anna Beispiel was declined');
    });
  });

  it("writes dates as the person's region does", async () => {
    vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['de', 'en-GB']);
    open([200, PENDING]);
    expect(await screen.findByText(/1 January 2026/)).toBeTruthy();
  });

  it('keeps the question when an answer gets lost', async () => {
    const { user } = open([200, PENDING], [503, {}], [200, { ...PENDING, state: 'APPROVED' }]);
    await user.click(await screen.findByRole('button', { name: 'Approve' }));
    expect(await screen.findByText(en.offlineText)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Approve' }));
    expect(
      await screen.findByRole('heading', { level: 1, name: 'Anna Beispiel can sign in now' }, { timeout: 5000 }),
    ).toBeTruthy();
  });
});
