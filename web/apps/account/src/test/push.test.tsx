/** Notifications in the steps of a flow. */
import { act, screen } from '@testing-library/react';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadPasskeyTexts } from '../text/passkey.ts';
import { loadPushTexts } from '../text/push.ts';
import { en, expectAccessible, openPage } from './page.tsx';
import { byPasskey, byPush, pushed, viewOf } from './views.ts';

const FLOW = '/account/flow/aaaa.first';
const { push: text } = en;
const done = viewOf({ type: 'DONE', message: 'SIGNED_IN' });

const problem = (code: string) => ({ problems: [{ field: 'push', code, message: 'the server says so' }] });
const button = (name: string) => screen.findByRole('button', { name });

// They are fetched when they are needed; here the first test must not wait for that.
beforeAll(() => Promise.all([import('../steps/later.ts'), loadPasskeyTexts('en'), loadPushTexts('en')]), 30_000);

afterEach(() => {
  vi.useRealTimers();
});

describe('a notification as second factor', () => {
  it('is sent when it is asked for, shows the number, and goes on by itself', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { inputs, sent, user } = openPage(FLOW, byPush(), pushed, pushed, done);
    expect(await screen.findByText(text.factorText)).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('checkbox', { name: en.rememberBrowser({ n: 30 }) }));
    await user.click(await button(text.send));
    expect(await screen.findByText('42')).toBeTruthy();
    expect(screen.getByText(text.waiting).getAttribute('role')).toBe('status');
    await expectAccessible();
    expect(inputs()).toEqual([{ type: 'SECOND_FACTOR', factor: 'PUSH', code: '', remember: true }]);
    await act(() => vi.advanceTimersByTimeAsync(2_100));
    expect(sent.at(-1)).toMatchObject({ method: 'GET', path: '/_api/account/v1/flows/aaaa.next' });
    expect(screen.getByText('42')).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(2_100));
    expect(await screen.findByRole('heading', { name: 'You are signed in' })).toBeTruthy();
    expect(inputs()).toHaveLength(1);
  });

  it('gives way to another factor', async () => {
    const { inputs, user } = openPage(FLOW, pushed, byPush(['TOTP', 'PUSH', 'RECOVERY_CODE']), done);
    await user.click(await button(text.another));
    expect(await screen.findByRole('textbox', { name: en.codeDigits({ n: 6 }) })).toBeTruthy();
    expect(inputs()).toEqual([{ type: 'BACK' }]);
    expect(screen.queryByRole('alert')).toBeNull();
    await user.click(await button(text.use));
    expect(document.activeElement?.textContent).not.toBe(text.use);
    expect(await button(text.send)).toBeTruthy();
    await user.click(await button(en.useRecoveryCode));
    expect(await screen.findByLabelText(en.recoveryCode)).toBeTruthy();
  });

  it.each([
    ['PUSH_EXPIRED', text.why.expired],
    ['PUSH_UNAVAILABLE', text.why.unavailable],
    ['THROTTLED_FEATURE', text.why.limited],
    ['SOMETHING_ELSE', text.why.failed],
  ])('says what %s means, and can be tried again', async (code, said) => {
    const { inputs, user } = openPage(FLOW, byPush(['TOTP', 'PUSH', 'RECOVERY_CODE'], problem(code)), pushed);
    expect((await screen.findByRole('alert')).textContent).toBe(said);
    expect(screen.getAllByRole('alert')).toHaveLength(1);
    await expectAccessible();
    await user.click(await button(text.send));
    expect(await screen.findByText('42')).toBeTruthy();
    expect(inputs()).toHaveLength(1);
  });

  it('is offered no more after a denial', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const denied = byPasskey(['RECOVERY_CODE'], 1, problem('PUSH_DENIED'));
    openPage(FLOW, pushed, { ...denied, step: { ...denied.step, passkey: null } as typeof denied.step });
    expect(await screen.findByText('42')).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(2_100));
    expect((await screen.findByRole('alert')).textContent).toBe(text.why.denied);
    expect(screen.getByLabelText(en.recoveryCode)).toBeTruthy();
    expect(screen.queryByRole('button', { name: text.use })).toBeNull();
    await expectAccessible();
  });
});
