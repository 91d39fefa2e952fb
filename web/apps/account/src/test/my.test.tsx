import { act, cleanup, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account, broken, factors, ok, refused } from './member.ts';
import { en, expectAccessible, openForm, openPage, type Reply } from './page.tsx';
import { SITE, viewOf } from './views.ts';

const OPEN = '/_api/account/v1/member';
const OWN = '/_api/identity/v1';

const profile = (more: object = {}): Reply =>
  ok({
    member: {
      id: 'm1',
      profile: { nickname: 'Mara', photo: { url: 'https://pictures.example.org/m.png' }, ...more },
      contact: { firstName: 'Mara', lastName: 'Lind' },
      privacyStatus: 'PRIVATE',
    },
  });

const MAIL = { id: 'email-m1', type: 'EMAIL', name: 'E-mail', createdDate: '2026-01-02T12:00:00.000Z' };
const PHONE = { id: 'f1', type: 'TOTP', name: 'Phone', createdDate: '2026-01-02T12:00:00.000Z' };
const session = (id: string, more: object = {}) => ({
  id,
  createdDate: '2026-01-02T12:00:00.000Z',
  lastUsedDate: '2026-01-03T12:00:00.000Z',
  clientIds: [],
  clientNames: [],
  isCurrent: false,
  ...more,
});
const HERE = session('a', { isCurrent: true, device: 'Firefox · Linux', address: '192.0.2.7', clientNames: ['Atlas'] });

describe('my account', () => {
  it('asks strangers to sign in, and for the way back', async () => {
    const signIn = viewOf({
      type: 'SIGN_IN',
      email: null,
      canSignUp: true,
      canRecover: true,
      passkey: null,
      providers: [],
    });
    const { sent } = openPage('/s/s1/account/', refused(401, 'UNAUTHENTICATED'), signIn);
    await screen.findByRole('heading', { level: 1, name: 'Sign in to Atlas' });
    expect(sent[0]).toMatchObject({ method: 'POST', path: `/s/s1${OPEN}`, body: {} });
    expect(sent[1]?.body).toEqual({
      kind: 'SIGN_IN',
      returnUrl: `${location.origin}/s/s1/account/profile`,
    });
  });

  it('says what is wrong when it can not be opened, and tries again', async () => {
    const { user } = openPage('/account/profile', 'no answer', account(), profile());
    await screen.findByText(en.offlineTitle);
    await user.click(screen.getByRole('button', { name: en.tryAgain }));
    expect(await screen.findByRole('heading', { level: 1, name: en.profileTitle })).toBeTruthy();
  });

  it('has parts with addresses of their own', async () => {
    const { user } = openPage(
      '/account/',
      account(),
      profile(),
      ok({ sessions: [HERE] }),
      ok({ applications: [] }),
      profile(),
    );
    await screen.findByRole('heading', { level: 1, name: en.profileTitle });
    await screen.findByLabelText(en.nickname);
    expect(location.pathname).toBe(`/s/${SITE.id}/account/profile`);
    const nav = within(screen.getByRole('navigation', { name: en.accountTitle }));
    expect(nav.getByRole('link', { current: 'page' }).textContent).toBe(en.profileTitle);
    await expectAccessible();
    await user.click(nav.getByRole('link', { name: en.sessionsTitle }));
    const title = await screen.findByRole('heading', { level: 1, name: en.sessionsTitle });
    expect([location.pathname, document.activeElement]).toEqual([`/s/${SITE.id}/account/sessions`, title]);
    history.back();
    expect(await screen.findByRole('heading', { level: 1, name: en.profileTitle })).toBeTruthy();
  });

  it('goes on with another token when one is over, for the same member alone', async () => {
    const { sent } = openPage(
      '/account/profile',
      account(),
      refused(401, 'UNAUTHENTICATED'),
      account({ access_token: 'second token' }),
      profile(),
    );
    await screen.findByLabelText(en.nickname);
    expect(sent.map((it) => it.token)).toEqual([undefined, 'first token', undefined, 'second token']);
  });

  it.each([
    ['nobody', refused(401, 'UNAUTHENTICATED')],
    ['another member', account({ memberId: 'm2' })],
  ])('stops when %s is signed in meanwhile', async (_, opened) => {
    const { sent } = openPage('/account/profile', account(), refused(401, 'UNAUTHENTICATED'), opened);
    await screen.findByText(en.outMeanwhileTitle);
    const link = screen.getByRole('link', { name: en.signIn });
    expect(link.getAttribute('href')).toContain(encodeURIComponent('/account/profile'));
    expect(sent).toHaveLength(3);
    await expectAccessible();
  });
});

describe('the ways to it', () => {
  it('keep an address with a client or a way back for the sign-in', async () => {
    const signIn = viewOf({
      type: 'SIGN_IN',
      email: null,
      canSignUp: true,
      canRecover: true,
      passkey: null,
      providers: [],
    });
    const { sent } = openPage('/account/?clientId=c1&returnUrl=https%3A%2F%2Fapp.example.org%2F', signIn);
    await screen.findByRole('heading', { level: 1, name: 'Sign in to Atlas' });
    expect(sent[0]?.body).toEqual({ kind: 'SIGN_IN', clientId: 'c1', returnUrl: 'https://app.example.org/' });
  });

  it('name the site where the address did not', async () => {
    openPage('/account/profile', account(), profile());
    const out = await screen.findByRole('link', { name: en.signOut });
    expect(out.getAttribute('href')).toBe(`/s/${SITE.id}/account/sign-out`);
  });

  it('ask again when the browser brings the page back', async () => {
    const signIn = viewOf({
      type: 'SIGN_IN',
      email: null,
      canSignUp: true,
      canRecover: true,
      passkey: null,
      providers: [],
    });
    openPage('/account/profile', account(), profile(), refused(401, 'UNAUTHENTICATED'), signIn);
    await screen.findByDisplayValue('Lind');
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    expect(screen.queryByDisplayValue('Lind')).toBeNull();
    await screen.findByRole('heading', { level: 1, name: 'Sign in to Atlas' });
  });
});

describe('the profile', () => {
  it('sends what differs, and says at the field what is wrong', async () => {
    const { sent, user } = openPage(
      '/account/profile',
      account(),
      profile(),
      broken('member.profile.photo.url', 'FORMAT'),
      profile({ nickname: 'Mimi', photo: undefined }),
    );
    const nickname = await screen.findByLabelText(en.nickname);
    expect(screen.getByRole('img', { name: en.photo }).getAttribute('src')).toBe('https://pictures.example.org/m.png');
    await user.clear(nickname);
    await user.type(nickname, 'Mimi');
    const photo = screen.getByLabelText(en.photoUrl);
    await user.clear(photo);
    await user.type(photo, 'nowhere');
    await user.click(screen.getByRole('button', { name: en.saveProfile }));
    expect(await screen.findByText(en.wrong.webAddress)).toBeTruthy();
    expect(sent[2]).toMatchObject({
      method: 'PATCH',
      path: `/s/${SITE.id}/members/v1/members/m1`,
      body: { member: { profile: { nickname: 'Mimi', photo: { url: 'nowhere' } }, contact: {} } },
    });
    await user.clear(photo);
    await user.click(screen.getByRole('checkbox', { name: en.showProfile }));
    await user.click(screen.getByRole('button', { name: en.saveProfile }));
    expect(await screen.findByText(en.saved)).toBeTruthy();
    expect(sent[3]?.body).toEqual({
      member: { profile: { nickname: 'Mimi', photo: null }, contact: {}, privacyStatus: 'PUBLIC' },
    });
    expect(screen.queryByRole('img', { name: en.photo })).toBeNull();
    await expectAccessible();
  });

  it('says that the site shows none', async () => {
    const { user } = openPage('/account/profile', account(), profile(), refused(403, 'COMMUNITY_JOIN_IMPOSSIBLE'));
    await user.click(await screen.findByRole('checkbox', { name: en.showProfile }));
    await user.click(screen.getByRole('button', { name: en.saveProfile }));
    expect((await screen.findByRole('alert')).textContent).toBe(en.wrong.profilesClosed);
  });
});

describe('sign-in', () => {
  it('changes the password, and shows no second step where the site has none', async () => {
    const { sent, user } = openPage(
      '/account/password',
      account(),
      factors({ policy: 'OFF' }),
      refused(403, '-19976'),
      broken('newPassword', 'MIN_LENGTH'),
      ok({}),
    );
    const old = await screen.findByLabelText(en.oldPassword);
    expect(screen.queryByRole('heading', { name: en.factorsTitle })).toBeNull();
    const save = screen.getByRole('button', { name: en.savePassword });
    await user.click(save);
    expect(screen.getAllByText(en.problem.required)).toHaveLength(2);
    await user.type(old, 'the old one');
    await user.type(screen.getByLabelText(en.newPassword), 'short');
    await user.click(save);
    expect(await screen.findByText(en.wrong.oldPassword)).toBeTruthy();
    expect(sent[2]).toMatchObject({
      path: `/s/${SITE.id}${OWN}/password`,
      body: { oldPassword: 'the old one', newPassword: 'short' },
      token: 'first token',
    });
    await user.click(save);
    expect(await screen.findByText(en.problem.passwordShort({ n: 8 }))).toBeTruthy();
    await user.click(save);
    expect(await screen.findByText(en.done.PASSWORD_CHANGED)).toBeTruthy();
    expect((screen.getByLabelText(en.oldPassword) as HTMLInputElement).value).toBe('');
    await expectAccessible();
  });

  it('sends those without a password to a link', async () => {
    openPage('/account/password', account({ hasPassword: false }), factors());
    expect(await screen.findByText(en.noPassword)).toBeTruthy();
    expect(screen.getByRole('link', { name: en.recover }).getAttribute('href')).toBe(`/s/${SITE.id}/account/recover`);
    expect(screen.queryByLabelText(en.oldPassword)).toBeNull();
  });

  it('has the address confirmed before a factor is added', async () => {
    const { sent, user } = openPage(
      '/account/password',
      account({ emailVerified: false }),
      factors(),
      ok({ verificationId: 'v1' }),
      refused(400, 'VERIFICATION_FAILED'),
      ok({ state: 'STATUS_CHECK' }),
    );
    expect(await screen.findByText(en.factorNeedsEmail)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: en.confirmEmail }));
    const code = await screen.findByLabelText(en.codeDigits({ n: 6 }));
    await user.type(code, '000000{Enter}');
    expect(await screen.findByText(en.problem.code)).toBeTruthy();
    await user.clear(code);
    await user.type(code, '123456{Enter}');
    expect(await screen.findByText(en.emailConfirmed)).toBeTruthy();
    expect(sent[2]).toMatchObject({ path: `/s/${SITE.id}/v1/start`, body: { identityId: 'm1', target: 'EMAIL' } });
    expect(sent[4]).toMatchObject({ path: `/s/${SITE.id}/v1/auth/verify`, body: { code: '123456', stateToken: 'v1' } });
    expect(screen.getByRole('button', { name: en.addFactor })).toBeTruthy();
  });

  it('adds an authenticator for who shows the password once more', async () => {
    const codes = Array.from({ length: 10 }, (_, n) => `ABCD-EFGH-IJKL-MNO${n}`);
    const { sent, user } = openPage(
      '/account/password',
      account(),
      factors(),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      factors(),
      refused(403, '-19976'),
      ok({ provedUntil: '2026-01-02T12:10:00.000Z' }),
      ok({
        factor: { id: 'f1', type: 'TOTP', name: 'Phone' },
        secret: 'GEZDGNBV',
        uri: 'otpauth://totp/x?secret=GEZDGNBV',
      }),
      refused(400, 'VERIFICATION_FAILED'),
      ok({ factor: PHONE, recoveryCodes: codes }),
      factors({ factors: [PHONE], recoveryCodesLeft: 10 }),
    );
    const form = await openForm(user, en.addFactor);
    await user.type(form.getByLabelText(new RegExp(`^${en.factorName}`)), 'Phone{Enter}');
    const password = await screen.findByLabelText(en.password);
    await waitFor(() => {
      expect(document.activeElement).toBe(password);
    });
    await expectAccessible();
    await user.type(password, 'wrong one{Enter}');
    expect(await screen.findByText(en.wrong.oldPassword)).toBeTruthy();
    await user.clear(password);
    await user.type(password, 'the right one{Enter}');
    const code = await screen.findByLabelText(en.codeDigits({ n: 6 }));
    expect(sent[5]).toMatchObject({ path: `/s/${SITE.id}${OWN}/proof`, body: { password: 'the right one' } });
    expect(sent[6]).toMatchObject({ path: `/s/${SITE.id}${OWN}/factors`, body: { name: 'Phone' } });
    await user.type(code, '000000{Enter}');
    expect(await screen.findByText(en.problem.code)).toBeTruthy();
    await user.clear(code);
    await user.type(code, '123456{Enter}');
    expect(await screen.findByText(codes[9] ?? '')).toBeTruthy();
    expect(sent[8]).toMatchObject({ path: `/s/${SITE.id}${OWN}/factors/f1/confirm`, body: { code: '123456' } });
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.recoveryCodesKept }));
    expect(await screen.findByText('Phone')).toBeTruthy();
    expect(screen.getByText(en.factorReady)).toBeTruthy();
    expect(await screen.findByText(en.codesLeft({ n: 10 }))).toBeTruthy();
  });

  it('turns codes by email on, and off by one of them', async () => {
    const proved = ok({ provedUntil: '2026-01-02T12:10:00.000Z' });
    const { sent, user } = openPage(
      '/account/password',
      account(),
      factors(),
      ok({ factor: { id: 'email-m1', type: 'EMAIL', name: 'E-mail' }, sentTo: 'm***@example.org' }),
      refused(400, 'VERIFICATION_FAILED'),
      ok({ factor: MAIL, recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'] }),
      factors({ factors: [MAIL], recoveryCodesLeft: 10 }),
      factors({ factors: [MAIL], recoveryCodesLeft: 10 }),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      factors({ factors: [MAIL], recoveryCodesLeft: 10 }),
      ok({ sentTo: 'm***@example.org' }),
      proved,
      ok({}),
      factors(),
    );
    await user.click(await screen.findByRole('button', { name: en.addEmailFactor }));
    const code = await screen.findByLabelText(en.codeDigits({ n: 6 }));
    expect(screen.getByText(en.codeSentTo({ where: 'm***@example.org' }))).toBeTruthy();
    await expectAccessible();
    await user.type(code, '000000{Enter}');
    expect(await screen.findByText(en.problem.code)).toBeTruthy();
    await user.clear(code);
    await user.type(code, '123456{Enter}');
    await user.click(await screen.findByRole('button', { name: en.recoveryCodesKept }));
    expect(await screen.findByText(en.sentFactorReady)).toBeTruthy();
    expect(sent[2]).toMatchObject({ path: `/s/${SITE.id}${OWN}/factors`, body: { type: 'EMAIL' } });
    expect(sent[4]).toMatchObject({ path: `/s/${SITE.id}${OWN}/factors/email-m1/confirm`, body: { code: '123456' } });
    expect(screen.queryByRole('button', { name: en.addEmailFactor })).toBeNull();

    await user.click(screen.getByRole('button', { name: `${en.remove}: ${en.emailFactor}` }));
    await user.click(screen.getByRole('button', { name: en.remove }));
    await user.click(await screen.findByRole('button', { name: en.sendCode }));
    await user.type(await screen.findByLabelText(en.codeDigits({ n: 6 })), '654321{Enter}');
    await waitFor(() => {
      expect(screen.getByRole('button', { name: en.addEmailFactor })).toBeTruthy();
    });
    expect(sent[9]?.body).toEqual({ emailData: {} });
    expect(sent[10]?.body).toEqual({ emailData: { code: '654321' } });
    expect(sent[11]).toMatchObject({ method: 'DELETE', path: `/s/${SITE.id}${OWN}/factors/email-m1` });
  });

  it('stays where it is when the answer to what was left comes', async () => {
    const begun = ok({
      factor: { id: 'f1', type: 'TOTP', name: 'Phone' },
      secret: 'GEZDGNBV',
      uri: 'otpauth://totp/x?secret=GEZDGNBV',
    });
    const { sent, user } = openPage('/account/password', account(), factors(), begun);
    const form = await openForm(user, en.addFactor);
    const answers = globalThis.fetch;
    let answer = () => {};
    const waits = new Promise<void>((resolve) => (answer = resolve));
    vi.stubGlobal('fetch', (...asked: Parameters<typeof answers>) => waits.then(() => answers(...asked)));
    await user.click(form.getByRole('button', { name: en.addFactor }));
    await user.click(form.getByRole('button', { name: en.cancel }));
    expect(document.activeElement).toBe(screen.getByRole('heading', { name: en.factorsTitle }));
    act(answer);
    await waitFor(() => {
      expect(sent).toHaveLength(3);
    });
    await openForm(user, en.addFactor);
    expect(screen.queryByLabelText(en.codeDigits({ n: 6 }))).toBeNull();
  });

  it('adds a number, of which it shows little', async () => {
    const SMS = { id: 'sms-1', type: 'SMS', name: '+49***78', createdDate: '2026-01-02T12:00:00.000Z' };
    const addable = ['TOTP', 'EMAIL', 'SMS', 'CALL'];
    const { sent, user } = openPage(
      '/account/password',
      account(),
      factors({ addable }),
      broken('phone', 'VALIDATION'),
      ok({ factor: { id: 'sms-1', type: 'SMS', name: '+49***78' }, sentTo: '+49***78' }),
      ok({ factor: SMS }),
      factors({ addable, factors: [SMS], recoveryCodesLeft: 10 }),
    );
    const form = await openForm(user, en.addSmsFactor);
    await user.click(form.getByRole('button', { name: en.addSmsFactor }));
    expect(await screen.findByText(en.problem.required)).toBeTruthy();
    const number = form.getByLabelText(en.phoneNumber);
    await user.type(number, '0151 12345678{Enter}');
    expect(await screen.findByText(en.wrong.phone)).toBeTruthy();
    await user.clear(number);
    await user.type(number, '+49 151 12345678');
    await user.click(screen.getByRole('button', { name: en.addSmsFactor }));
    await user.type(await screen.findByLabelText(en.codeDigits({ n: 6 })), '123456{Enter}');
    expect(await screen.findByText(en.smsFactor({ number: '+49***78' }))).toBeTruthy();
    const begin = { path: `/s/${SITE.id}${OWN}/factors`, body: { type: 'SMS', phone: '+49 151 12345678' } };
    expect(sent[3]).toMatchObject(begin);
    expect(sent[4]).toMatchObject({ path: `/s/${SITE.id}${OWN}/factors/sms-1/confirm`, body: { code: '123456' } });
    // There is another one for calls, and no second one for messages.
    expect(screen.getByRole('button', { name: en.addCallFactor })).toBeTruthy();
    expect(screen.queryByRole('button', { name: en.addSmsFactor })).toBeNull();
    await expectAccessible();
  });

  it('sends the first code by email again', async () => {
    const begun = (sentTo: string) => ok({ factor: { id: 'email-m1', type: 'EMAIL', name: 'E-mail' }, sentTo });
    const { sent, user } = openPage(
      '/account/password',
      account(),
      factors(),
      begun('m***@example.org'),
      begun('n***@example.org'),
      refused(429, 'THROTTLED_FEATURE'),
    );
    await user.click(await screen.findByRole('button', { name: en.addEmailFactor }));
    await user.type(await screen.findByLabelText(en.codeDigits({ n: 6 })), '123');
    await user.click(screen.getByRole('button', { name: en.resend }));
    expect(await screen.findByText(en.resent)).toBeTruthy();
    expect(screen.getByText(en.codeSentTo({ where: 'n***@example.org' }))).toBeTruthy();
    expect(screen.getByLabelText<HTMLInputElement>(en.codeDigits({ n: 6 })).value).toBe('');
    expect(sent[3]).toMatchObject({ path: `/s/${SITE.id}${OWN}/factors`, body: { type: 'EMAIL' } });
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.resend }));
    expect(await screen.findByRole('alert')).toBeTruthy();
    expect(screen.queryByText(en.resent)).toBeNull();
  });

  it('asks for a recovery code where no code is sent', async () => {
    const all = factors({ factors: [MAIL], recoveryCodesLeft: 9 });
    const needed = refused(403, 'INSUFFICIENT_USER_AUTHENTICATION');
    const unverified = openPage('/account/password', account({ emailVerified: false }), all, needed, all);
    await unverified.user.click(await screen.findByRole('button', { name: en.newCodes }));
    expect(await screen.findByLabelText(en.recoveryCode)).toBeTruthy();
    expect(screen.queryByRole('button', { name: en.useEmailCode })).toBeNull();
    cleanup();

    const no = broken('emailData', 'FIELD_NOT_ALLOWED');
    const moved = openPage('/account/password', account(), all, needed, all, no);
    await moved.user.click(await screen.findByRole('button', { name: en.newCodes }));
    await moved.user.click(await screen.findByRole('button', { name: en.sendCode }));
    expect(await screen.findByLabelText(en.recoveryCode)).toBeTruthy();
    expect(screen.queryByRole('button', { name: en.useEmailCode })).toBeNull();
    expect(moved.sent[4]?.body).toEqual({ emailData: {} });
  });

  it('removes one after a code, and asks first', async () => {
    const { sent, user } = openPage(
      '/account/password',
      account(),
      factors({ policy: 'OFF', factors: [PHONE], recoveryCodesLeft: 9, rememberedBrowsers: 2 }),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      factors({ policy: 'OFF', factors: [PHONE], recoveryCodesLeft: 9, rememberedBrowsers: 2 }),
      ok({ provedUntil: '2026-01-02T12:10:00.000Z' }),
      ok({}),
      factors({ policy: 'OFF' }),
    );
    await screen.findByText(en.browsersLeft({ n: 2 }));
    expect(screen.queryByRole('button', { name: en.addFactor })).toBeNull();
    await user.click(screen.getByRole('button', { name: `${en.remove}: Phone` }));
    expect(screen.getByText(en.removeLast)).toBeTruthy();
    expect(sent).toHaveLength(2);
    await user.click(screen.getByRole('button', { name: en.remove }));
    await user.click(await screen.findByRole('button', { name: en.useRecoveryCode }));
    await user.type(await screen.findByLabelText(en.recoveryCode), 'ABCD-EFGH{Enter}');
    await waitFor(() => {
      expect(screen.queryByText('Phone')).toBeNull();
    });
    expect(sent[4]?.body).toEqual({ recoveryCodeData: { code: 'ABCD-EFGH' } });
    expect(sent[5]).toMatchObject({ method: 'DELETE', path: `/s/${SITE.id}${OWN}/factors/f1` });
  });

  it('changes nothing for who gives no proof', async () => {
    const { sent, user } = openPage(
      '/account/password',
      account(),
      factors({ factors: [PHONE], recoveryCodesLeft: 9 }),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      factors({ factors: [PHONE], recoveryCodesLeft: 9 }),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      factors({ factors: [PHONE], recoveryCodesLeft: 9 }),
      ok({ provedUntil: '2026-01-02T12:10:00.000Z' }),
      ok({ recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'] }),
      factors({ factors: [PHONE], recoveryCodesLeft: 10 }),
    );
    const renew = await screen.findByRole('button', { name: en.newCodes });
    await user.click(renew);
    await user.click(await screen.findByRole('button', { name: en.cancel }));
    expect(sent).toHaveLength(4);
    await user.click(await screen.findByRole('button', { name: en.newCodes }));
    await user.type(await screen.findByLabelText(en.codeDigits({ n: 6 })), '123456{Enter}');
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: en.recoveryCodesKept }));
    expect(await screen.findByText(en.codesReady)).toBeTruthy();
  });

  it('asks by what counts now, and once for all that waits', async () => {
    const { sent, user } = openPage(
      '/account/password',
      account(),
      factors(),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      factors({ factors: [PHONE], recoveryCodesLeft: 9 }),
      factors({ factors: [PHONE], recoveryCodesLeft: 9 }),
      ok({ provedUntil: '2026-01-02T12:10:00.000Z' }),
      ok({}),
    );
    await user.type(await screen.findByLabelText(en.oldPassword), 'the old one');
    await user.type(screen.getByLabelText(en.newPassword), 'another long phrase');
    const add = (await openForm(user, en.addFactor)).getByRole('button', { name: en.addFactor });
    const save = screen.getByRole('button', { name: en.savePassword });
    act(() => {
      save.click();
      add.click();
    });
    // A factor was added in another browser meanwhile.
    await user.type(await screen.findByLabelText(en.codeDigits({ n: 6 })), '123456{Enter}');
    await waitFor(() => {
      expect(sent.slice(6).map((it) => it.path)).toEqual([
        `/s/${SITE.id}${OWN}/proof`,
        `/s/${SITE.id}${OWN}/password`,
        `/s/${SITE.id}${OWN}/factors`,
      ]);
    });
    expect(sent[6]?.body).toEqual({ totpData: { code: '123456' } });
  });

  it('has no way on by a password that proves nothing', async () => {
    const { user } = openPage(
      '/account/password',
      account(),
      factors(),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      factors(),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
    );
    const form = await openForm(user, en.addFactor);
    await user.click(form.getByRole('button', { name: en.addFactor }));
    await user.type(await screen.findByLabelText(en.password), 'a new one{Enter}');
    expect(await screen.findByText(en.proofUnusable)).toBeTruthy();
    expect(screen.getByRole('link', { name: en.recover })).toBeTruthy();
  });
});

describe('sessions', () => {
  it('are named by browser, address and applications, and ended', async () => {
    const { sent, user } = openPage(
      '/account/sessions',
      account(),
      ok({
        sessions: [
          { ...HERE, place: { city: 'Bâle', country: 'CH' } },
          session('b', { device: 'Safari · iPhone', place: { country: 'DE' } }),
          session('c'),
        ],
      }),
      ok({ applications: [] }),
      ok({}),
      ok({ sessions: [HERE, session('c'), session('d')] }),
      ok({}),
      ok({ sessions: [HERE] }),
    );
    await screen.findByText('Firefox · Linux');
    expect(screen.getByText(en.sessionFrom({ address: '192.0.2.7' }))).toBeTruthy();
    expect(screen.getByText(en.sessionPlace({ place: 'Bâle, Switzerland' }))).toBeTruthy();
    expect(screen.getByText(en.sessionPlace({ place: 'Germany' }))).toBeTruthy();
    expect(sent[1]?.language).toBe('en');
    expect(screen.getByText(en.sessionApps({ apps: 'Atlas' }))).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: /^Sign out there: Safari/ }));
    await waitFor(() => {
      expect(screen.queryByText('Safari · iPhone')).toBeNull();
    });
    expect(sent[3]).toMatchObject({ method: 'DELETE', path: `/s/${SITE.id}${OWN}/sessions/b`, token: 'first token' });
    expect(screen.getByRole('status').textContent).toBe(en.sessionEnded);
    await user.click(screen.getByRole('button', { name: en.endOthers }));
    await waitFor(() => {
      expect(screen.queryByText(en.unknownDevice)).toBeNull();
    });
    expect(sent[5]).toMatchObject({ method: 'DELETE', path: `/s/${SITE.id}${OWN}/sessions` });
  });

  it.each([
    ['READ', en.ownerReads],
    ['WRITE', en.ownerWrites],
  ])('show that an owner of the site acts as the member (%s), who ends it', async (access, banner) => {
    const impersonation = { access, expiresDate: '2026-01-02T10:30:00.000Z' };
    const { sent, user } = openPage(
      '/account/sessions',
      account(),
      ok({ sessions: [HERE, session('o', { impersonation })] }),
      ok({ applications: [] }),
      ok({}),
      ok({ sessions: [HERE] }),
    );
    await screen.findByText(en.ownerAsMember);
    expect(screen.getByText(banner)).toBeTruthy();
    expect(screen.queryByText(en.unknownDevice)).toBeNull();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: /^End it: An owner of this site, as you/ }));
    await waitFor(() => {
      expect(screen.queryByText(banner)).toBeNull();
    });
    expect(sent[3]).toMatchObject({ method: 'DELETE', path: `/s/${SITE.id}${OWN}/sessions/o` });
  });

  it('stay when the server does not answer', async () => {
    const listed = ok({ sessions: [HERE, session('b')] });
    const { user } = openPage('/account/sessions', account(), listed, ok({ applications: [] }), 'no answer');
    await user.click(await screen.findByRole('button', { name: /^Sign out there/ }));
    expect((await screen.findByRole('alert')).textContent).toBe(en.offlineText);
    expect(screen.getAllByRole('listitem').length).toBeGreaterThan(1);
  });
});
