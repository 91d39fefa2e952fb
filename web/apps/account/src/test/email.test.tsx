import { screen } from '@testing-library/react';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadLaterTexts } from '../text/later.ts';
import { account as accountOf, ok, refused } from './member.ts';
import { en, expectAccessible, openPage, type Reply } from './page.tsx';
import { SITE } from './views.ts';

const NEEDED = refused(403, 'INSUFFICIENT_USER_AUTHENTICATION');
const WRONG = refused(400, 'VERIFICATION_FAILED');
const wrongAddress = (violatedRule: string): Reply => ({
  status: 400,
  body: { details: { validationError: { fieldViolations: [{ field: 'email', violatedRule, description: 'no' }] } } },
});
const account = accountOf();
const factors = ok({ policy: 'OFF', addable: [], factors: [], recoveryCodesLeft: 0, rememberedBrowsers: 0 });
const sent200 = ok({ expiresDate: '2026-02-01T12:00:00.000Z' });
const OWN = `/s/${SITE.id}/_api/identity/v1`;
const NEW = 'mara@new.example.org';

beforeAll(
  () =>
    Promise.all([
      import('../my/MyPage.tsx'),
      import('../my/AccountGate.tsx'),
      import('../page/KeepPage.tsx'),
      import('../page/WithLaterTexts.tsx'),
      loadLaterTexts('en'),
    ]),
  30_000,
);

/** Opens the part and asks for another address. */
async function asking(...replies: Reply[]) {
  const page = openPage('/account/password', account, factors, ...replies);
  await page.user.click(await screen.findByRole('button', { name: en.changeEmail }));
  const field = screen.getByLabelText(en.newEmail);
  expect(document.activeElement).toBe(field);
  await expectAccessible();
  return { ...page, field };
}

describe('another address of an account', () => {
  it('counts once a code was shown that went there, by a member who has shown who they are', async () => {
    const { sent, user, field } = await asking(NEEDED, factors, ok({}), sent200, ok({ email: NEW }), factors);
    await user.type(field, ` ${NEW}{Enter}`);
    await user.type(await screen.findByLabelText(en.password), 'right');
    await user.click(screen.getByRole('button', { name: en.verify }));
    const code = await screen.findByLabelText(en.codeDigits({ n: 6 }));
    expect(screen.getByText(en.codeSentTo({ where: NEW })).getAttribute('role')).toBe('status');
    await expectAccessible();
    await user.type(code, '123456{Enter}');
    expect(await screen.findByText(en.emailChanged({ email: NEW }))).toBeTruthy();
    expect(document.activeElement?.textContent).toBe(en.email);
    expect(screen.getAllByText(NEW)).toHaveLength(1);
    expect(screen.getByText(en.signedInAs({ name: NEW }))).toBeTruthy();
    const bodies = sent.slice(2, 7).map((it) => [it.path, it.body]);
    expect(bodies).toEqual([
      [`${OWN}/email`, { email: NEW }],
      [`${OWN}/factors`, null],
      [`${OWN}/proof`, { password: 'right' }],
      [`${OWN}/email`, { email: NEW }],
      [`${OWN}/email/confirm`, { code: '123456' }],
    ]);
    await expectAccessible();
  });

  it('is asked for again where something is wrong with it', async () => {
    const { sent, user, field } = await asking(wrongAddress('FORMAT'), wrongAddress('VALIDATION'));
    await user.click(screen.getByRole('button', { name: en.sendCode }));
    expect(await screen.findByText(en.problem.required)).toBeTruthy();
    expect(sent).toHaveLength(2);
    await user.type(field, 'mara{Enter}');
    expect(await screen.findByText(en.problem.email)).toBeTruthy();
    await user.type(field, '@example.org{Enter}');
    expect(await screen.findByText(en.wrong.sameEmail)).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.cancel }));
    expect(document.activeElement?.textContent).toBe(en.email);
    expect(screen.getByText('mara@example.org')).toBeTruthy();
  });

  it.each([
    ['a wrong code', WRONG, en.problem.code],
    ['the address of another account', refused(409, '-19995'), en.wrong.emailInUse],
  ])('is refused with %s', async (_, reply, sentence) => {
    const { sent, user, field } = await asking(sent200, reply, sent200);
    await user.type(field, `${NEW}{Enter}`);
    await user.click(await screen.findByRole('button', { name: en.verify }));
    expect(await screen.findByText(en.problem.code)).toBeTruthy();
    expect(sent).toHaveLength(3);
    await user.type(screen.getByLabelText(en.codeDigits({ n: 6 })), '123456{Enter}');
    expect(await screen.findByText(sentence)).toBeTruthy();
    expect(screen.queryByText(en.resent)).toBeNull();
    await user.click(screen.getByRole('button', { name: en.resend }));
    expect((await screen.findByText(en.resent)).getAttribute('role')).toBe('status');
    expect(sent.at(-1)?.body).toEqual({ email: NEW });
    await expectAccessible();
  });

  it('says so when there was no answer or too many were asked for', async () => {
    const { user, field } = await asking('no answer', refused(429, 'THROTTLED_FEATURE'));
    await user.type(field, `${NEW}{Enter}`);
    expect((await screen.findByRole('alert')).textContent).toBe(en.offlineText);
    await user.click(screen.getByRole('button', { name: en.sendCode }));
    expect(await screen.findByText(en.problem.tooMany)).toBeTruthy();
  });
});

describe('the page that takes an account back', () => {
  const path = '/_api/account/v1/email-changes';
  const view = (isUndone: boolean) => ok({ site: SITE, email: 'mara@example.org', isUndone });

  it('changes nothing by being opened, and takes it back with one press', async () => {
    const { sent, user } = openPage('/account/keep#u1.secret', view(false), view(true));
    await screen.findByRole('heading', { level: 1, name: en.undoEmailTitle({ site: SITE.name }) });
    expect(sent).toMatchObject([{ path, method: 'POST', body: { token: 'u1.secret' } }]);
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.undoEmail }));
    const title = await screen.findByRole('heading', { level: 1, name: en.undoneTitle });
    expect(document.activeElement).toBe(title);
    expect(sent[1]).toMatchObject({ path: `${path}/undo`, method: 'POST', body: { token: 'u1.secret' } });
    const link = screen.getByRole('link', { name: en.newPassword });
    expect(link.getAttribute('href')).toBe(`/s/${SITE.id}/account/recover`);
    await expectAccessible();
  });

  it('says that a link gives nothing back any more', async () => {
    openPage('/account/keep#u1.secret', refused(400, 'INVALID_LINK'));
    expect(await screen.findByRole('heading', { level: 1, name: en.undoGoneTitle })).toBeTruthy();
    await expectAccessible();
  });

  it('says why it could not, and tries again', async () => {
    const { user } = openPage('/account/keep#u1.secret', 'no answer', view(false), refused(409, '-19995'), 'no answer');
    await user.click(await screen.findByRole('button', { name: en.tryAgain }));
    await user.click(await screen.findByRole('button', { name: en.undoEmail }));
    expect((await screen.findByRole('alert')).textContent).toBe(en.wrong.emailInUse);
    await user.click(screen.getByRole('button', { name: en.undoEmail }));
    expect(await screen.findByText(en.offlineText)).toBeTruthy();
  });
});
