/** Passkeys in the steps of a flow. */
import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { FlowView, PasskeyChallenge } from '@stoa/api';
import { loadPasskeyTexts } from '../text/passkey.ts';
import { MADE, MADE_JSON, USED, USED_JSON, question, refusal, withPasskeys, type Question } from './browser.ts';
import { en, expectAccessible, openPage, type Sent } from './page.tsx';
import { byPasskey, challenge, creation, enrolling, viewOf } from './views.ts';

const FLOW = '/account/flow/aaaa.first';
const { passkey: text } = en;
const REFUSED = { problems: [{ field: 'passkey', code: 'PASSKEY_REFUSED', message: 'no' }] };
const done = viewOf({ type: 'DONE', message: 'SIGNED_IN' });

const signIn = (passkey: PasskeyChallenge | null, more: Partial<FlowView> = {}) =>
  viewOf({ type: 'SIGN_IN', email: null, canSignUp: true, canRecover: true, passkey, providers: [] }, more);

const button = (name: string) => screen.findByRole('button', { name });

/** What was sent last to the flow, with the text of the passkey read. */
function lastInput(sent: readonly Sent[]) {
  const body = sent.at(-1)?.body as { credential: string };
  return { ...body, credential: JSON.parse(body.credential) as unknown };
}

/** The bytes that a passkey is to sign, and what it is asked beside. */
function asked({ options }: Question) {
  const publicKey = options.publicKey as PublicKeyCredentialRequestOptions;
  return { ...publicKey, challenge: [...new Uint8Array(publicKey.challenge as ArrayBuffer)] };
}

// They are fetched when they are needed; here the first test must not wait for that.
beforeAll(() => Promise.all([import('../steps/later.ts'), loadPasskeyTexts('en')]), 30_000);

afterEach(() => {
  vi.useRealTimers();
});

describe('signing in with a passkey', () => {
  it('asks the browser, and sends what the passkey says', async () => {
    const questions = withPasskeys();
    const { sent, user } = openPage(FLOW, signIn(challenge(1)), done);
    const press = await button(text.signIn);
    await expectAccessible();
    await user.click(press);
    const prompt = await question(questions, 1);
    expect(asked(prompt)).toEqual({
      challenge: [1, 2, 1],
      timeout: 300_000,
      rpId: 'localhost',
      allowCredentials: [],
      userVerification: 'required',
    });
    expect(prompt.options.mediation).toBeUndefined();
    expect((await screen.findByText(text.waiting)).getAttribute('role')).toBe('status');
    expect(press.getAttribute('aria-disabled')).toBe('true');
    await prompt.answer(USED);
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(lastInput(sent)).toEqual({
      type: 'PASSKEY',
      challengeId: challenge(1).challengeId,
      credential: USED_JSON,
      remember: false,
    });
  });

  it('is offered at the field of the address, and again after a prompt that was closed', async () => {
    const questions = withPasskeys({ inField: true });
    const { inputs, user } = openPage(FLOW, signIn(challenge(1)), done);
    const offered = await question(questions, 1);
    expect(offered.options.mediation).toBe('conditional');
    const email = screen.getByRole('textbox', { name: 'Email' });
    expect(email.getAttribute('autocomplete')).toBe('username webauthn');
    await user.click(await button(text.signIn));
    const prompt = await question(questions, 2);
    expect(offered.isOver()).toBe(true);
    expect(prompt.options.mediation).toBeUndefined();
    await prompt.answer(refusal('NotAllowedError'));
    expect((await screen.findByRole('alert')).textContent).toBe(text.why.cancelled);
    const again = await question(questions, 3);
    expect(again.options.mediation).toBe('conditional');
    expect(inputs()).toEqual([]);
    await again.answer(USED);
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(inputs().map((it) => it.type)).toEqual(['PASSKEY']);
  });

  it('ends what the field offers when the password is sent', async () => {
    const questions = withPasskeys({ inField: true });
    const { user, inputs } = openPage(FLOW, signIn(challenge(1)), 'never');
    const offered = await question(questions, 1);
    await user.type(screen.getByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.type(screen.getByLabelText('Password'), 'a b c{Enter}');
    await waitFor(() => {
      expect(offered.isOver()).toBe(true);
    });
    await user.click(await button(text.signIn));
    expect([inputs().map((it) => it.type), questions.length]).toEqual([['SIGN_IN'], 1]);
  });

  it.each([
    ['NotAllowedError', text.why.cancelled],
    ['SecurityError', text.why.address],
    ['NotSupportedError', text.why.unsupported],
    ['UnknownError', text.why.failed],
  ])('says what %s means, and can be tried again', async (name, said) => {
    const questions = withPasskeys();
    const { inputs, user } = openPage(FLOW, signIn(challenge(1)), done);
    const press = await button(text.signIn);
    await user.click(press);
    await (await question(questions, 1)).answer(refusal(name));
    expect((await screen.findByRole('alert')).textContent).toBe(said);
    expect(document.activeElement).toBe(press);
    expect(inputs()).toEqual([]);
    await expectAccessible();
    await user.keyboard('{Enter}');
    const second = await question(questions, 2);
    expect(screen.queryByRole('alert')).toBeNull();
    await second.answer(USED);
    await screen.findByRole('heading', { name: 'You are signed in' });
  });

  it('tells a prompt that was open too long from one that was closed', async () => {
    const questions = withPasskeys();
    const { user } = openPage(FLOW, signIn(challenge(1, 0)), done);
    await user.click(await button(text.signIn));
    await (await question(questions, 1)).answer(refusal('NotAllowedError'));
    expect((await screen.findByRole('alert')).textContent).toBe(text.why.timeout);
  });

  it('says at its button that the server refused one, and asks with another challenge', async () => {
    const questions = withPasskeys();
    const { sent, user } = openPage(FLOW, signIn(challenge(1)), signIn(challenge(2), REFUSED), done);
    await user.click(await button(text.signIn));
    await (await question(questions, 1)).answer(USED);
    expect(await screen.findByText(text.why.wrong)).toBeTruthy();
    expect(screen.getAllByRole('alert')).toHaveLength(1);
    await user.click(await button(text.signIn));
    const second = await question(questions, 2);
    expect(asked(second).challenge).toEqual([1, 2, 2]);
    await second.answer(USED);
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(lastInput(sent)).toMatchObject({ challengeId: challenge(2).challengeId });
  });

  it('has another challenge before the first ends, while the page stands open', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const questions = withPasskeys({ inField: true });
    const { sent } = openPage(FLOW, signIn(challenge(1)), signIn(challenge(2)));
    const first = await question(questions, 1);
    await act(() => vi.advanceTimersByTimeAsync(3 * 60_000));
    expect([sent.length, first.isOver()]).toEqual([1, false]);
    await act(() => vi.advanceTimersByTimeAsync(65_000));
    expect(sent).toHaveLength(2);
    expect(sent[1]).toMatchObject({ method: 'GET', path: '/_api/account/v1/flows/aaaa.next' });
    const second = await question(questions, 2);
    expect([first.isOver(), asked(second).challenge]).toEqual([true, [1, 2, 2]]);
  });

  it('leaves what the page has said when it gets another challenge', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const questions = withPasskeys({ inField: true });
    const { sent } = openPage(FLOW, signIn(challenge(1), REFUSED), signIn(challenge(2)));
    await question(questions, 1);
    expect(await screen.findByText(text.why.wrong)).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(4 * 60_000 + 5_000));
    expect(asked(await question(questions, 2)).challenge).toEqual([1, 2, 2]);
    expect([sent.length, screen.queryByText(text.why.wrong)?.textContent]).toEqual([2, text.why.wrong]);
  });

  it('asks for no challenge once the flow is over, and less and less often while there is no answer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const over = {
      status: 400,
      body: { message: 'gone', details: { applicationError: { code: 'INVALID_STATE_TOKEN' } } },
    };
    const questions = withPasskeys({ inField: true });
    const { sent } = openPage(FLOW, signIn(challenge(1)), 'no answer', 'no answer', 'no answer', over);
    await question(questions, 1);
    // After 4:00, 4:10, 4:30 and 5:10; then never.
    await act(() => vi.advanceTimersByTimeAsync(4 * 60_000 + 5_000));
    expect(sent).toHaveLength(2);
    await act(() => vi.advanceTimersByTimeAsync(30_000));
    expect(sent).toHaveLength(4);
    await act(() => vi.advanceTimersByTimeAsync(60 * 60_000));
    expect(sent).toHaveLength(5);
  });

  it('says why not in a browser without passkeys, where the password goes on', async () => {
    const { inputs, user } = openPage(FLOW, signIn(challenge(1)), done);
    const press = await button(text.signIn);
    expect(screen.getByRole('tooltip', { hidden: true }).textContent).toBe(text.why.unsupported);
    await user.click(press);
    expect(inputs()).toEqual([]);
    await user.type(screen.getByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.type(screen.getByLabelText('Password'), 'a b c{Enter}');
    await screen.findByRole('heading', { name: 'You are signed in' });
  });

  it('is not offered where the site has none', async () => {
    withPasskeys({ inField: true });
    openPage(FLOW, signIn(null));
    await button('Sign in');
    await act(() => import('../steps/later.ts'));
    expect(screen.queryByRole('button', { name: text.signIn })).toBeNull();
  });
});

describe('a passkey as second factor', () => {
  it('is sent with what the person says of this browser', async () => {
    const questions = withPasskeys();
    const all = byPasskey(['WEBAUTHN', 'TOTP', 'RECOVERY_CODE'], 1);
    const { sent, user } = openPage(FLOW, all, { ...all, ...REFUSED }, done);
    await screen.findByText(text.factorText);
    await user.click(screen.getByRole('checkbox', { name: en.rememberBrowser({ n: 30 }) }));
    await user.click(await button(text.use));
    await (await question(questions, 1)).answer(USED);
    expect(await screen.findByText(text.why.wrong)).toBeTruthy();
    await expectAccessible();
    await user.click(await button(text.use));
    await (await question(questions, 2)).answer(USED);
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(lastInput(sent)).toMatchObject({ type: 'PASSKEY', credential: USED_JSON, remember: true });
  });

  it('gives way to another factor, without what was said of it', async () => {
    const questions = withPasskeys();
    const all = byPasskey(['WEBAUTHN', 'TOTP', 'RECOVERY_CODE'], 1);
    const { inputs, user } = openPage(FLOW, all, { ...all, ...REFUSED }, done);
    await user.click(await button(text.use));
    await (await question(questions, 1)).answer(USED);
    await screen.findByText(text.why.wrong);
    await user.click(await button(en.useAuthenticator));
    expect(screen.queryByText(text.why.wrong)).toBeNull();
    const code = await screen.findByLabelText(en.codeDigits({ n: 6 }));
    await waitFor(() => {
      expect(document.activeElement).toBe(code);
    });
    await user.type(code, '123456{Enter}');
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(inputs().at(-1)).toEqual({ type: 'SECOND_FACTOR', factor: 'TOTP', code: '123456', remember: false });
  });

  it('comes after what the browser can show', async () => {
    openPage(FLOW, byPasskey(['WEBAUTHN', 'RECOVERY_CODE'], 1));
    expect(await screen.findByLabelText(en.recoveryCode)).toBeTruthy();
    expect((await button(text.use)).getAttribute('aria-disabled')).toBe('true');
    expect(screen.getByRole('tooltip', { hidden: true }).textContent).toBe(text.why.unsupported);
    await expectAccessible();
  });
});

describe('a passkey where the site requires a factor', () => {
  const codes = viewOf({ type: 'RECOVERY_CODES', codes: ['ABCD-EFGH-IJKL-MNOP'] });

  it('is made, and its codes are shown', async () => {
    const questions = withPasskeys();
    const { sent, user } = openPage(FLOW, enrolling(creation(1)), enrolling(creation(2), REFUSED), codes);
    await screen.findByText(text.enrolText({ site: 'Atlas' }));
    await expectAccessible();
    await user.click(await button(text.create));
    const prompt = await question(questions, 1);
    const { publicKey } = prompt.options as { publicKey: PublicKeyCredentialCreationOptions };
    expect([prompt.kind, [...(publicKey.user.id as Uint8Array)], publicKey.attestation]).toEqual([
      'create',
      [255, 239],
      'none',
    ]);
    expect(publicKey.excludeCredentials).toEqual([
      { id: Uint8Array.of(4, 5, 6), type: 'public-key', transports: ['internal'] },
    ]);
    await prompt.answer(refusal('InvalidStateError'));
    expect((await screen.findByRole('alert')).textContent).toBe(text.why.known);
    await user.click(await button(text.create));
    await (await question(questions, 2)).answer(MADE);
    expect(await screen.findByText(text.why.failed)).toBeTruthy();
    await user.click(await button(text.create));
    await (await question(questions, 3)).answer(MADE);
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    expect(lastInput(sent)).toEqual({
      type: 'CONFIRM_PASSKEY',
      challengeId: creation(2).challengeId,
      credential: MADE_JSON,
    });
  });

  it('leaves the choice of an authenticator app', async () => {
    withPasskeys();
    const { inputs, user } = openPage(FLOW, enrolling(creation(1)), codes);
    await user.click(await button(text.useApp));
    await screen.findByText(en.setupScan);
    await waitFor(() => {
      expect(document.activeElement?.textContent).toBe(en.enrolTitle);
    });
    await user.click(await button(text.use));
    await user.click(await button(text.useApp));
    await user.type(await screen.findByLabelText(en.codeDigits({ n: 6 })), '123456{Enter}');
    await screen.findByText('ABCD-EFGH-IJKL-MNOP');
    expect(inputs()).toEqual([{ type: 'CONFIRM_FACTOR', code: '123456' }]);
  });

  it('begins with the app in a browser without passkeys', async () => {
    openPage(FLOW, enrolling(creation(1)));
    await screen.findByText(en.setupScan);
    expect((await button(text.use)).getAttribute('aria-disabled')).toBe('true');
    await expectAccessible();
  });

  it('closes the prompt when the person leaves the page', async () => {
    const questions = withPasskeys();
    const { user } = openPage(FLOW, enrolling(creation(1)));
    await user.click(await button(text.create));
    const prompt = await question(questions, 1);
    await user.click(await button(text.useApp));
    await waitFor(() => {
      expect(prompt.isOver()).toBe(true);
    });
  });
});
