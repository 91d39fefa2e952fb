/** Passkeys in My account. */
import { screen, waitFor, within } from '@testing-library/react';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadOtherTexts } from '../text/later.ts';
import { MADE, MADE_JSON, USED, USED_JSON, question, refusal, withPasskeys } from './browser.ts';
import { account, broken, factors, ok, refused } from './member.ts';
import { en, expectAccessible, openForm, openPage, type Sent } from './page.tsx';
import { SITE, challenge, creation } from './views.ts';

const OWN = `/s/${SITE.id}/_api/identity/v1`;
const PAGE = '/account/password';
const { passkey: text } = en;

const NEEDED = refused(403, 'INSUFFICIENT_USER_AUTHENTICATION');
const LAPTOP = {
  id: 'passkey-1',
  type: 'WEBAUTHN',
  name: 'Laptop',
  createdDate: '2026-01-02T12:00:00.000Z',
  lastUsedDate: '2026-02-03T12:00:00.000Z',
  backedUp: false,
};
const addable = (more: object = {}) => factors({ addable: ['WEBAUTHN', 'TOTP'], ...more });
const one = (more: object = {}) => addable({ factors: [LAPTOP], recoveryCodesLeft: 9, ...more });
const begun = ok({
  factor: { id: creation(1).challengeId, type: 'WEBAUTHN', name: 'Passkey' },
  options: JSON.parse(creation(1).options) as object,
  expiresDate: '2026-01-02T12:05:00.000Z',
});
const proving = (n: number) =>
  ok({
    webauthnData: {
      challengeId: challenge(n).challengeId,
      publicKeyCredentialRequestOptionsJson: challenge(n).options,
    },
  });

/** A body that was sent, with the text of the passkey read. */
function read(it: Sent | undefined) {
  const body = it?.body as { credential: string };
  return { ...body, credential: JSON.parse(body.credential) as unknown };
}

// They are fetched when they are needed; here the first test must not wait for that.
beforeAll(
  () => Promise.all([import('../my/MyPage.tsx'), import('../my/AccountGate.tsx'), loadOtherTexts('en')]),
  30_000,
);

describe('passkeys of a member', () => {
  it('are added for who shows the password once more, with the recovery codes of the first', async () => {
    const questions = withPasskeys();
    const { sent, user } = openPage(
      PAGE,
      account(),
      addable(),
      NEEDED,
      addable(),
      ok({ provedUntil: '2026-01-02T12:10:00.000Z' }),
      begun,
      ok({ factor: LAPTOP, recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'] }),
      one(),
    );
    const form = await openForm(user, text.add);
    await user.type(form.getByLabelText(new RegExp(`^${en.factorName}`)), ' Laptop ');
    await user.click(form.getByRole('button', { name: text.add }));
    await user.type(await screen.findByLabelText(en.password), 'the right one{Enter}');
    const prompt = await question(questions, 1);
    expect(prompt.kind).toBe('create');
    expect(await screen.findByText(text.waiting)).toBeTruthy();
    await prompt.answer(MADE);
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    expect(sent[5]).toMatchObject({ method: 'POST', path: `${OWN}/factors`, body: { type: 'WEBAUTHN' } });
    expect(sent[6]?.path).toBe(`${OWN}/factors/${creation(1).challengeId}/confirm`);
    expect(read(sent[6])).toEqual({ credential: MADE_JSON, name: 'Laptop' });
    await user.click(screen.getByRole('button', { name: en.recoveryCodesKept }));
    expect(await screen.findByText(text.ready)).toBeTruthy();
    await screen.findByText('Laptop');
    expect(screen.getByText(text.kind)).toBeTruthy();
    expect(screen.getByText(/^Last used on .*2026/)).toBeTruthy();
    await expectAccessible();
  });

  it('are not kept when the prompt is closed, the device has one, or the server refuses', async () => {
    const questions = withPasskeys();
    const { sent, user } = openPage(
      PAGE,
      account(),
      addable(),
      begun,
      begun,
      begun,
      refused(400, 'VERIFICATION_FAILED'),
      refused(400, 'TOO_MANY'),
    );
    const add = (await openForm(user, text.add)).getByRole('button', { name: text.add });
    await user.click(add);
    await (await question(questions, 1)).answer(refusal('NotAllowedError'));
    expect((await screen.findByRole('alert')).textContent).toBe(text.why.cancelled);
    expect(sent).toHaveLength(3);
    await expectAccessible();
    await user.click(add);
    await (await question(questions, 2)).answer(refusal('InvalidStateError'));
    expect(await screen.findByText(text.why.known)).toBeTruthy();
    await user.click(add);
    await (await question(questions, 3)).answer(MADE);
    expect(await screen.findByText(text.why.failed)).toBeTruthy();
    expect(screen.queryByText(text.why.known)).toBeNull();
    await user.click(add);
    expect(await screen.findByText(text.why.tooMany)).toBeTruthy();
    expect(screen.getAllByRole('alert')).toHaveLength(1);
  });

  it('are added once the address is confirmed, and where the server has them', async () => {
    withPasskeys();
    openPage(PAGE, account({ emailVerified: false }), addable());
    expect(await screen.findByText(en.factorNeedsEmail)).toBeTruthy();
    expect(screen.queryByRole('button', { name: text.add })).toBeNull();
  });

  it('say why not in a browser without them', async () => {
    const { sent, user } = openPage(PAGE, account(), addable());
    await user.click(await screen.findByRole('button', { name: text.add }));
    expect(screen.getByRole('tooltip', { hidden: true }).textContent).toBe(text.why.unsupported);
    expect(sent).toHaveLength(2);
    await expectAccessible();
  });

  it('are renamed, and removed after a question', async () => {
    withPasskeys();
    const { sent, user } = openPage(
      PAGE,
      account(),
      one({ factors: [{ ...LAPTOP, backedUp: true }] }),
      ok({ factor: { ...LAPTOP, name: 'Work' } }),
      one({ factors: [{ ...LAPTOP, name: 'Work' }] }),
      ok({}),
      addable(),
    );
    expect(await screen.findByText(text.synced)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: `${text.rename}: Laptop` }));
    const form = within(screen.getByRole('form', { name: text.renameTitle({ name: 'Laptop' }) }));
    const name = form.getByRole('textbox', { name: en.factorName });
    expect(document.activeElement).toBe(name);
    await expectAccessible();
    await user.clear(name);
    await user.keyboard('{Enter}');
    expect(form.getByText(en.problem.required)).toBeTruthy();
    await user.type(name, 'Work{Enter}');
    expect(await screen.findByText(text.renamed)).toBeTruthy();
    expect(sent[2]).toMatchObject({ method: 'PATCH', path: `${OWN}/factors/passkey-1`, body: { name: 'Work' } });
    await user.click(await screen.findByRole('button', { name: `${en.remove}: Work` }));
    expect(screen.getByText(text.removeText)).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.remove }));
    expect(await screen.findByText(en.factorRemoved)).toBeTruthy();
    expect(sent[4]).toMatchObject({ method: 'DELETE', path: `${OWN}/factors/passkey-1` });
    await waitFor(() => {
      expect(screen.queryByText('Work')).toBeNull();
    });
  });
});

describe('a passkey as proof', () => {
  it('lets go on what waits for it', async () => {
    const questions = withPasskeys();
    const { sent, user } = openPage(
      PAGE,
      account(),
      one(),
      NEEDED,
      one(),
      proving(1),
      proving(2),
      refused(400, 'VERIFICATION_FAILED'),
      proving(3),
      ok({ provedUntil: '2026-01-02T12:10:00.000Z' }),
      ok({ recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'] }),
      one(),
    );
    await user.click(await screen.findByRole('button', { name: en.newCodes }));
    expect(await screen.findByText(text.proofText)).toBeTruthy();
    const use = screen.getByRole('button', { name: text.use });
    await waitFor(() => {
      expect(document.activeElement).toBe(use);
    });
    await user.keyboard('{Enter}');
    await (await question(questions, 1)).answer(refusal('NotAllowedError'));
    expect((await screen.findByRole('alert')).textContent).toBe(text.why.cancelled);
    await expectAccessible();
    await user.click(use);
    await (await question(questions, 2)).answer(USED);
    expect(await screen.findByText(text.why.wrong)).toBeTruthy();
    await user.click(use);
    await (await question(questions, 3)).answer(USED);
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    expect(sent[4]).toMatchObject({ path: `${OWN}/proof`, body: { webauthnData: {} } });
    const { webauthnData } = sent[8]?.body as { webauthnData: { challengeId: string; credential: string } };
    expect([webauthnData.challengeId, JSON.parse(webauthnData.credential)]).toEqual([
      challenge(3).challengeId,
      USED_JSON,
    ]);
  });

  it('gives way where the server takes none', async () => {
    withPasskeys();
    const no = broken('webauthnData', 'FIELD_NOT_ALLOWED');
    const { user } = openPage(PAGE, account(), one(), NEEDED, one(), no);
    await user.click(await screen.findByRole('button', { name: en.newCodes }));
    await user.click(await screen.findByRole('button', { name: text.use }));
    expect(await screen.findByLabelText(en.recoveryCode)).toBeTruthy();
    expect(screen.queryByRole('button', { name: text.use })).toBeNull();
  });

  it('comes last in a browser without passkeys', async () => {
    const { user } = openPage(PAGE, account(), one(), NEEDED, one());
    await user.click(await screen.findByRole('button', { name: en.newCodes }));
    expect(await screen.findByLabelText(en.recoveryCode)).toBeTruthy();
    expect(screen.getByRole('button', { name: text.use }).getAttribute('aria-disabled')).toBe('true');
    await expectAccessible();
  });
});
