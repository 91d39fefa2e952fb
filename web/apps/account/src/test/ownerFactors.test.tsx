/** Second factors of those who run a site: on their page, before an installation, and at their sign-in. */
import { screen, waitFor } from '@testing-library/react';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { FlowView } from '@stoa/api';
import { saveFile } from '../parts/saveFile.ts';
import { MADE, MADE_JSON, USED, question, withPasskeys } from './browser.ts';
import { NEEDED, broken, factors, ok, ownerAccount, proved, refused } from './member.ts';
import { en, expectAccessible, openForm, openPage, seenButton } from './page.tsx';
import { SITE, byOperator, challenge, creation, enrolling, viewOf } from './views.ts';

vi.mock('../parts/saveFile.ts', () => ({ saveFile: vi.fn() }));

const PAGE = '/s/s1/account/security';
const OWN = '/s/s1/_api/account/v1/operator';
const APP = { id: 'f1', type: 'TOTP', name: 'Phone', createdDate: '2026-01-02T12:00:00.000Z' };
const LAPTOP = { ...APP, id: 'p1', type: 'WEBAUTHN', name: 'Laptop', backedUp: false };
/** As the server answers operators: no code is sent to them, and no browser is remembered. */
const own = (more: object = {}) => factors({ addable: ['WEBAUTHN', 'TOTP'], rememberedBrowsers: undefined, ...more });
const withApp = own({ factors: [APP], recoveryCodesLeft: 10 });
const withPasskey = own({ factors: [LAPTOP], recoveryCodesLeft: 10 });

// They are fetched when they are needed; here the first test must not wait for that.
beforeAll(() => Promise.all([import('../my/OwnerPage.tsx'), import('../my/InstallPage.tsx')]), 30_000);

const digits = () => screen.findByLabelText(en.codeDigits({ n: 6 }));

describe('second factors of those who run a site', () => {
  it('begin with an authenticator, after the password, and codes for the account', async () => {
    const { sent, user } = openPage(
      PAGE,
      ownerAccount(),
      own(),
      NEEDED,
      own(),
      proved,
      ok({ factor: APP, secret: 'GEZDGNBV', uri: 'otpauth://totp/x?secret=GEZDGNBV' }),
      ok({ factor: APP, recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'] }),
      withApp,
    );
    const form = await openForm(user, en.addFactor);
    await user.type(form.getByLabelText(new RegExp(`^${en.factorName}`)), 'Phone');
    await user.click(form.getByRole('button', { name: en.addFactor }));
    const password = await screen.findByLabelText(en.password);
    await waitFor(() => {
      expect(document.activeElement).toBe(password);
    });
    await expectAccessible();
    await user.type(password, 'the right one{Enter}');
    await user.type(await digits(), '123456{Enter}');
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    expect(sent.map((it) => `${it.method} ${it.path.replace(OWN, '')}`)).toEqual([
      'GET ',
      'GET /factors',
      'POST /factors',
      'GET /factors',
      'POST /proof',
      'POST /factors',
      'POST /factors/f1/confirm',
      'GET /factors',
    ]);
    expect(sent.filter((it) => it.method === 'POST').map((it) => it.body)).toEqual([
      { name: 'Phone' },
      { password: 'the right one' },
      { name: 'Phone' },
      { code: '123456' },
    ]);
    expect(sent.some((it) => it.token !== undefined)).toBe(false);
    await user.click(screen.getByRole('button', { name: en.download }));
    const file = en.recoveryCodesFile({ site: 'olga@example.org' });
    expect(saveFile).toHaveBeenCalledExactlyOnceWith('recovery-codes.txt', expect.stringContaining(file) as string);
    await user.click(screen.getByRole('button', { name: en.recoveryCodesKept }));
    expect(await screen.findByText(en.factorReady)).toBeTruthy();
    expect(await screen.findByText(en.codesLeft({ n: 10 }))).toBeTruthy();
    expect(screen.queryByRole('button', { name: en.forgetBrowsers })).toBeNull();
    await expectAccessible();
  });

  it('are passkeys as well', async () => {
    const questions = withPasskeys();
    const begun = ok({
      factor: { id: creation(1).challengeId, type: 'WEBAUTHN', name: 'Passkey' },
      options: JSON.parse(creation(1).options) as object,
      expiresDate: '2026-01-02T12:05:00.000Z',
    });
    const { sent, user } = openPage(
      PAGE,
      ownerAccount(),
      withApp,
      begun,
      ok({ factor: LAPTOP, recoveryCodes: [] }),
      own({ factors: [LAPTOP, APP], recoveryCodesLeft: 10 }),
    );
    const form = await openForm(user, en.passkey.add);
    expect(screen.getByText(en.passkey.secondText)).toBeTruthy();
    await user.click(form.getByRole('button', { name: en.passkey.add }));
    await (await question(questions, 1)).answer(MADE);
    expect(await screen.findByText(en.passkey.secondReady)).toBeTruthy();
    expect(await screen.findByText('Laptop')).toBeTruthy();
    expect(sent[2]).toMatchObject({ path: `${OWN}/factors`, body: { type: 'WEBAUTHN' } });
    const { credential } = sent[3]?.body as { credential: string };
    expect(JSON.parse(credential)).toEqual(MADE_JSON);
  });

  it('are shown before the password changes, which keeps what was typed', async () => {
    const { sent, user } = openPage(
      PAGE,
      ownerAccount(),
      withApp,
      NEEDED,
      withApp,
      refused(400, 'VERIFICATION_FAILED'),
      proved,
      ownerAccount(),
    );
    await user.type(await screen.findByLabelText(en.oldPassword), 'the old one');
    await user.type(screen.getByLabelText(en.newPassword), 'quite another');
    await user.click(screen.getByRole('button', { name: en.savePassword }));
    // The app may name another site: nothing is said of which.
    expect(await screen.findByText(en.passkey.accountFactorText)).toBeTruthy();
    expect(screen.queryByText(en.factorText({ site: SITE.name }))).toBeNull();
    expect(screen.queryByRole('button', { name: en.password })).toBeNull();
    await user.type(await digits(), '000000{Enter}');
    expect(await screen.findByText(en.problem.code)).toBeTruthy();
    await user.clear(await digits());
    await user.type(await digits(), '123456{Enter}');
    expect(await screen.findByText(en.done.PASSWORD_CHANGED)).toBeTruthy();
    expect(sent[5]).toMatchObject({ path: `${OWN}/proof`, body: { totpData: { code: '123456' } } });
    expect(sent[6]).toMatchObject({
      path: `${OWN}/password`,
      body: { old: 'the old one', password: 'quite another' },
    });
  });

  it('are removed after a passkey or a recovery code, and not by who cancels', async () => {
    const questions = withPasskeys();
    const asked = ok({
      webauthnData: {
        challengeId: challenge(1).challengeId,
        publicKeyCredentialRequestOptionsJson: challenge(1).options,
      },
    });
    const { sent, user } = openPage(
      PAGE,
      ownerAccount(),
      withPasskey,
      NEEDED,
      withPasskey,
      NEEDED,
      withPasskey,
      asked,
      proved,
      ok({}),
      own(),
    );
    await user.click(await screen.findByRole('button', { name: `${en.remove}: Laptop` }));
    await user.click(screen.getByRole('button', { name: en.remove }));
    await screen.findByText(en.passkey.proofText);
    await expectAccessible();
    expect(screen.getByRole('button', { name: en.useRecoveryCode })).toBeTruthy();
    await user.click(screen.getByRole('button', { name: en.cancel }));
    await user.click(await screen.findByRole('button', { name: en.remove }));
    await user.click(await screen.findByRole('button', { name: en.passkey.use }));
    await (await question(questions, 1)).answer(USED);
    expect(await screen.findByText(en.factorRemoved)).toBeTruthy();
    expect(sent[8]).toMatchObject({ method: 'DELETE', path: `${OWN}/factors/p1` });
    expect(await screen.findByText(en.factorsNone)).toBeTruthy();
  });

  it('are asked for again where they could not be read, and keep nothing else away', async () => {
    const { user } = openPage(PAGE, ownerAccount(), 'no answer', withApp);
    expect(await screen.findByText(en.offlineTitle)).toBeTruthy();
    expect(screen.getByLabelText(en.oldPassword)).toBeTruthy();
    expect(screen.getByText(en.sessionHere)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: en.tryAgain }));
    expect(await screen.findByText('Phone')).toBeTruthy();
  });

  it('lead to the sign-in when the session has ended meanwhile', async () => {
    const { user } = openPage(PAGE, ownerAccount(), withApp, refused(401, 'UNAUTHENTICATED'));
    await user.click(await screen.findByRole('button', { name: en.newCodes }));
    const link = await screen.findByRole('link', { name: en.signIn });
    expect(link.getAttribute('href')).toBe('/s/s1/account/owner');
  });
});

describe('an installation', () => {
  const consent = ok({ site: SITE, appName: 'Feed', host: 'feed.example', isThirdParty: true, scopes: ['items:read'] });
  const address = '/s/s1/account/install?appId=c1&redirectUrl=https%3A%2F%2Ffeed.example%2Fin';

  it('goes on after a proof', async () => {
    vi.spyOn(document, 'hasFocus').mockReturnValue(true);
    const { sent, user } = openPage(
      address,
      consent,
      NEEDED,
      withApp,
      broken('totpData.code', 'FORMAT'),
      NEEDED,
      withApp,
      proved,
      refused(400, 'REDIRECT_URI_NOT_ALLOWED'),
    );
    await user.click(await seenButton(en.install));
    await user.type(await digits(), '123456');
    await expectAccessible();
    // Who cancels has installed nothing, and can go on.
    await user.keyboard('{Enter}');
    await user.click(await screen.findByRole('button', { name: en.cancel }));
    await user.click(await seenButton(en.install));
    await user.type(await digits(), '123456{Enter}');
    expect(await screen.findByText(en.problem.returnRefused)).toBeTruthy();
    const decided = sent.filter((it) => it.path.endsWith('/installs/decide'));
    expect(decided.map((it) => (it.body as { decision: string }).decision)).toEqual(['INSTALL', 'INSTALL', 'INSTALL']);
    expect(sent[6]).toMatchObject({ path: `${OWN}/proof`, body: { totpData: { code: '123456' } } });
  });
});

describe('the sign-in of those who run a site', () => {
  const flow = '/s/s1/account/flow/aaaa.first';
  const KIND = { kind: 'OWNER_SIGN_IN', cancelUrl: null } satisfies Partial<FlowView>;
  const over = viewOf({ type: 'DONE', message: 'SIGNED_IN' }, KIND);

  it('takes each kind of factor, and offers to remember no browser', async () => {
    withPasskeys();
    const { inputs, user } = openPage(flow, byOperator(1), over);
    await screen.findByRole('button', { name: en.passkey.use });
    expect(screen.queryByRole('checkbox')).toBeNull();
    await user.click(screen.getByRole('button', { name: en.useAuthenticator }));
    expect(await screen.findByText(en.passkey.accountFactorText)).toBeTruthy();
    expect(screen.queryByRole('checkbox')).toBeNull();
    await expectAccessible();
    await user.type(await digits(), '123456{Enter}');
    await screen.findByRole('heading', { level: 1, name: en.done.SIGNED_IN });
    expect(inputs()).toEqual([{ type: 'SECOND_FACTOR', factor: 'TOTP', code: '123456', remember: false }]);
    expect(screen.getByRole('link', { name: en.securityTitle })).toBeTruthy();
  });

  it('says of which account the code is, also without a passkey', async () => {
    const { inputs, user } = openPage(flow, byOperator(null), over);
    expect(await screen.findByText(en.passkey.accountFactorText)).toBeTruthy();
    expect(screen.queryByRole('button', { name: en.passkey.use })).toBeNull();
    await user.click(screen.getByRole('button', { name: en.useRecoveryCode }));
    await user.type(await screen.findByLabelText(en.recoveryCode), 'ABCD-EFGH-IJKL-MNOP{Enter}');
    await screen.findByRole('heading', { level: 1, name: en.done.SIGNED_IN });
    expect(inputs()).toEqual([
      { type: 'SECOND_FACTOR', factor: 'RECOVERY_CODE', code: 'ABCD-EFGH-IJKL-MNOP', remember: false },
    ]);
  });

  it('sets up what the site requires, with codes for the account', async () => {
    vi.mocked(saveFile).mockClear();
    const codes = viewOf({ type: 'RECOVERY_CODES', codes: ['ABCD-EFGH-IJKL-MNOP'] }, KIND);
    sessionStorage.setItem('stoa.account.email/s/s1', 'olga@example.org');
    const { inputs, user } = openPage(flow, enrolling(null, KIND), codes, over);
    await user.type(await digits(), '123456{Enter}');
    await user.click(await screen.findByRole('button', { name: en.download }));
    const file = en.recoveryCodesFile({ site: 'olga@example.org' });
    expect(saveFile).toHaveBeenCalledExactlyOnceWith('recovery-codes.txt', expect.stringContaining(file) as string);
    await user.click(screen.getByRole('button', { name: en.recoveryCodesKept }));
    await screen.findByRole('heading', { level: 1, name: en.done.SIGNED_IN });
    expect(inputs()).toEqual([{ type: 'CONFIRM_FACTOR', code: '123456' }, { type: 'CODES_KEPT' }]);
  });
});
