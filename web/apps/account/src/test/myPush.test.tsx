/** Notifications in My account. */
import { act, screen } from '@testing-library/react';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadOtherTexts } from '../text/later.ts';
import { SUBSCRIPTION, withPush } from './browser.ts';
import { account, broken, factors, ok, refused } from './member.ts';
import { en, expectAccessible, openForm, openPage } from './page.tsx';
import { SITE } from './views.ts';

const OWN = `/s/${SITE.id}/_api/identity/v1`;
const PAGE = '/account/password';
const { push: text } = en;

const DESK = { id: 'push-1', type: 'PUSH', name: 'Desk', createdDate: '2026-01-02T12:00:00.000Z' };
const addable = (more: object = {}) => factors({ addable: ['PUSH', 'TOTP'], pushKey: 'BKey', ...more });
const one = (more: object = {}) => addable({ factors: [DESK], recoveryCodesLeft: 10, ...more });
const begun = ok({ factor: { id: 'push-1', type: 'PUSH', name: 'Desk' }, expiresDate: '2026-01-02T12:05:00.000Z' });
const kept = ok({ factor: DESK, recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'] });
const NEEDED = refused(403, 'INSUFFICIENT_USER_AUTHENTICATION');

// They are fetched when they are needed; here the first test must not wait for that.
beforeAll(
  () => Promise.all([import('../my/MyPage.tsx'), import('../my/AccountGate.tsx'), loadOtherTexts('en')]),
  30_000,
);

describe('notifications in this browser', () => {
  it('are added with the code that the worker hands on, and bring recovery codes', async () => {
    const { asked, post } = withPush();
    const { sent, user } = openPage(PAGE, account(), addable(), begun, kept, one());
    await screen.findByRole('button', { name: text.add });
    await expectAccessible();
    const form = await openForm(user, text.add);
    await expectAccessible();
    expect(asked).toEqual([]);
    await user.type(form.getByLabelText(new RegExp(`^${en.factorName}`)), ' Desk ');
    await user.click(form.getByRole('button', { name: text.add }));
    expect(await screen.findByText(text.codeText)).toBeTruthy();
    await expectAccessible();
    const home = `/s/${SITE.id}/account/`;
    expect(asked).toEqual([
      'permission',
      [`${home}push.js`, { scope: home }],
      { userVisibleOnly: true, applicationServerKey: 'BKey' },
    ]);
    expect(sent[2]).toMatchObject({
      method: 'POST',
      path: `${OWN}/factors`,
      body: { type: 'PUSH', subscription: SUBSCRIPTION, name: 'Desk' },
    });
    await post({ kind: 'code', code: 'abc' });
    expect(sent).toHaveLength(3);
    await post({ kind: 'code', code: '123456' });
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    expect(sent[3]).toMatchObject({ path: `${OWN}/factors/push-1/confirm`, body: { code: '123456' } });
    await user.click(screen.getByRole('button', { name: en.recoveryCodesKept }));
    expect(await screen.findByText(text.ready)).toBeTruthy();
    expect(await screen.findByText(text.kind)).toBeTruthy();
    await expectAccessible();
  });

  it('takes a code that is typed, says which is wrong, and has another sent', async () => {
    const { post } = withPush();
    const wrong = refused(400, 'VERIFICATION_FAILED');
    const { sent, user } = openPage(PAGE, account(), addable(), begun, wrong, begun, kept, one());
    await user.click((await openForm(user, text.add)).getByRole('button', { name: text.add }));
    await user.type(await screen.findByRole('textbox', { name: en.codeDigits({ n: 6 }) }), '000000{Enter}');
    expect(await screen.findByText(en.problem.code)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: en.resend }));
    expect(await screen.findByText(en.resent)).toBeTruthy();
    expect(sent[4]?.body).toEqual({ type: 'PUSH', subscription: SUBSCRIPTION });
    await post({ kind: 'code', code: '654321' });
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    expect(sent[5]?.body).toEqual({ code: '654321' });
  });

  it('takes a code that arrives before the answer to the request', async () => {
    const { post } = withPush();
    const { sent, user } = openPage(PAGE, account(), addable(), begun, kept, one());
    const answers = globalThis.fetch;
    vi.stubGlobal('fetch', async (...asked: Parameters<typeof answers>) => {
      if (asked[1]?.method === 'POST' && asked[0] === `${OWN}/factors`) await post({ kind: 'code', code: '123456' });
      return answers(...asked);
    });
    await user.click((await openForm(user, text.add)).getByRole('button', { name: text.add }));
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    expect(sent[3]?.body).toEqual({ code: '123456' });
  });

  it.each([
    ['is refused', withPush.bind(null, 'denied'), text.why.blocked],
    ['is closed', withPush.bind(null, 'default'), text.why.dismissed],
    ['finds no service', withPush.bind(null, 'granted', 'AbortError'), text.why.unreachable],
    ['fails', withPush.bind(null, 'granted', 'UnknownError'), text.why.failed],
  ])('says why there are none where the permission %s', async (_, browser, said) => {
    browser();
    const { sent, user } = openPage(PAGE, account(), addable());
    await user.click((await openForm(user, text.add)).getByRole('button', { name: text.add }));
    expect((await screen.findByRole('alert')).textContent).toBe(said);
    expect(sent).toHaveLength(2);
    await expectAccessible();
  });

  it('takes the place of what the browser had for another key of the site', async () => {
    const { asked } = withPush('granted', 'InvalidStateError', null);
    const { user } = openPage(PAGE, account(), addable(), begun);
    await user.click((await openForm(user, text.add)).getByRole('button', { name: text.add }));
    expect(await screen.findByText(text.codeText)).toBeTruthy();
    expect(asked.slice(3)).toEqual(['unsubscribe', { userVisibleOnly: true, applicationServerKey: 'BKey' }]);
  });

  it('says that an account has as many as it can have', async () => {
    withPush();
    const { user } = openPage(PAGE, account(), addable(), refused(400, 'TOO_MANY'));
    await user.click((await openForm(user, text.add)).getByRole('button', { name: text.add }));
    expect(await screen.findByText(text.why.tooMany)).toBeTruthy();
  });

  it('lead back to the list where the site takes none any more', async () => {
    withPush();
    const { user } = openPage(PAGE, account(), addable(), NEEDED, factors());
    await user.click((await openForm(user, text.add)).getByRole('button', { name: text.add }));
    await screen.findByLabelText(en.password);
    await user.click(screen.getByRole('button', { name: en.cancel }));
    expect(await screen.findByRole('button', { name: en.addFactor })).toBeTruthy();
    expect(screen.queryByRole('form', { name: text.add })).toBeNull();
  });

  it('are not for browsers without them, nor before the address is confirmed', async () => {
    openPage(PAGE, account(), addable());
    const add = await screen.findByRole('button', { name: text.add });
    expect(add.getAttribute('aria-disabled')).toBe('true');
    await expectAccessible();
  });

  it('are added once the address is confirmed', async () => {
    withPush();
    openPage(PAGE, account({ emailVerified: false }), addable());
    expect(await screen.findByText(en.factorNeedsEmail)).toBeTruthy();
    expect(screen.queryByRole('button', { name: text.add })).toBeNull();
  });

  it('are renamed, said to be out of reach, and removed after a question', async () => {
    withPush();
    const { sent, user } = openPage(
      PAGE,
      account(),
      one({ factors: [{ ...DESK, needsReenrolment: true }] }),
      ok({ factor: { ...DESK, name: 'Work' } }),
      one({ factors: [{ ...DESK, name: 'Work' }] }),
      ok({}),
      addable(),
    );
    expect(await screen.findByText(text.isGone)).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: `${en.passkey.rename}: Desk` }));
    const name = screen.getByRole('textbox', { name: en.factorName });
    await user.clear(name);
    await user.type(name, 'Work{Enter}');
    expect(await screen.findByText(en.passkey.renamed)).toBeTruthy();
    await user.click(await screen.findByRole('button', { name: `${en.remove}: Work` }));
    expect(screen.getByText(text.removeText)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: en.remove }));
    expect(await screen.findByText(en.factorRemoved)).toBeTruthy();
    expect(sent[4]).toMatchObject({ method: 'DELETE', path: `${OWN}/factors/push-1` });
  });
});

describe('a notification as proof', () => {
  const question = ok({
    hint: '42',
    pushData: { transactionId: 'c0ffee00-0000-4000-8000-000000000001' },
    expiresDate: '2026-01-02T12:02:00.000Z',
  });
  const begin = async (user: ReturnType<typeof openPage>['user']) => {
    await user.click(await screen.findByRole('button', { name: en.newCodes }));
    const send = await screen.findByRole('button', { name: text.send });
    await vi.waitFor(() => {
      expect(document.activeElement).toBe(send);
    });
    await user.keyboard('{Enter}');
  };

  afterEach(() => {
    vi.useRealTimers();
  });

  it('shows the number until it is approved, and lets go on what waits for it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { sent, user } = openPage(
      PAGE,
      account(),
      one(),
      NEEDED,
      one(),
      question,
      question,
      'no answer',
      ok({ provedUntil: '2026-01-02T12:10:00.000Z' }),
      ok({ recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'] }),
      one(),
    );
    await begin(user);
    expect(await screen.findByText('42')).toBeTruthy();
    await expectAccessible();
    for (let looks = 0; looks < 3; looks += 1) await act(() => vi.advanceTimersByTimeAsync(2_100));
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    const asked = sent.filter((it) => it.path.endsWith('/proof')).map((it) => it.body);
    const again = { pushData: { transactionId: 'c0ffee00-0000-4000-8000-000000000001' } };
    expect(asked).toEqual([{ pushData: {} }, again, again, again]);
  });

  it('says that it was denied or too late, or that too many were sent', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { user } = openPage(
      PAGE,
      account(),
      one(),
      NEEDED,
      one(),
      question,
      refused(400, 'VERIFICATION_FAILED'),
      refused(429, 'THROTTLED_FEATURE'),
      question,
      refused(503, 'UNAVAILABLE'),
    );
    await begin(user);
    expect(await screen.findByText('42')).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(2_100));
    expect((await screen.findByRole('alert')).textContent).toBe(text.why.unproved);
    await user.click(screen.getByRole('button', { name: text.send }));
    expect(await screen.findByText(text.why.limited)).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: text.send }));
    expect(await screen.findByText('42')).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(2_100));
    expect((await screen.findByRole('alert')).textContent).toBe(text.why.unavailable);
  });

  it('gives way where no browser can be asked', async () => {
    const { user } = openPage(PAGE, account(), one(), NEEDED, one(), broken('pushData', 'FIELD_NOT_ALLOWED'));
    await begin(user);
    expect(await screen.findByLabelText(en.recoveryCode)).toBeTruthy();
    expect(screen.queryByRole('button', { name: text.send })).toBeNull();
  });
});
