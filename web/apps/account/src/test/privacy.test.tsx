import { screen } from '@testing-library/react';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { routeOf } from '../flow/route.ts';
import { saveFile } from '../parts/saveFile.ts';
import { loadOtherTexts } from '../text/later.ts';
import { account, factors, ok, refused } from './member.ts';
import { en, expectAccessible, openPage, type Reply } from './page.tsx';
import { SITE } from './views.ts';

vi.mock('../parts/saveFile.ts', () => ({ saveFile: vi.fn() }));

const NEEDED = refused(403, 'INSUFFICIENT_USER_AUTHENTICATION');

const none = factors({ policy: 'OFF', addable: [] });
const DUE = '2026-02-01T12:00:00.000Z';
const OWN = `/s/${SITE.id}/_api/identity/v1`;

describe('the data of a member', () => {
  // They are fetched when they are needed; here the first test must not wait for that.
  beforeAll(
    () =>
      Promise.all([
        import('../my/MyPage.tsx'),
        import('../my/AccountGate.tsx'),
        import('../page/WithLaterTexts.tsx'),
        loadOtherTexts('en'),
      ]),
    30_000,
  );

  it('are saved as a file once the member has shown who they are', async () => {
    const copy = { member: { id: 'm1' }, audit: [] };
    const { sent, user } = openPage('/account/privacy', account(), none, NEEDED, none, ok({}), ok(copy));
    await screen.findByRole('heading', { level: 1, name: en.privacyTitle });
    await user.click(await screen.findByRole('button', { name: en.copyAction }));
    await user.type(await screen.findByLabelText(en.password), 'right');
    await user.click(screen.getByRole('button', { name: en.verify }));
    expect(await screen.findByText(en.copyReady)).toBeTruthy();
    expect(sent.map((it) => it.path).slice(2)).toEqual(
      ['export', 'factors', 'proof', 'export'].map((it) => `${OWN}/${it}`),
    );
    expect(saveFile).toHaveBeenCalledExactlyOnceWith(
      'my-data.json',
      `${JSON.stringify(copy, null, 2)}\n`,
      'application/json',
    );
    await expectAccessible();
  });

  it('go after a question and a proof, and the page says when', async () => {
    const { sent, user } = openPage(
      '/account/privacy',
      account(),
      none,
      NEEDED,
      none,
      ok({}),
      ok({ isDeleted: false, deletionDate: DUE }),
    );
    await user.click(await screen.findByRole('button', { name: en.deletionAction }));
    expect(screen.getByText(en.deletionWaits({ n: 14, email: 'mara@example.org' }))).toBeTruthy();
    expect(document.activeElement?.textContent).toBe(en.keepAccount);
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.keepAccount }));
    expect(document.activeElement?.textContent).toBe(en.deletionTitle);
    expect(sent).toHaveLength(2);
    await user.click(screen.getByRole('button', { name: en.deletionAction }));
    await user.click(screen.getByRole('button', { name: en.deletionAction }));
    await user.type(await screen.findByLabelText(en.password), 'right');
    await user.click(screen.getByRole('button', { name: en.verify }));
    expect(await screen.findByRole('heading', { level: 1, name: en.leavingTitle })).toBeTruthy();
    expect(screen.getByText(en.leavingLink({ email: 'mara@example.org' }))).toBeTruthy();
    expect(sent.at(-1)).toMatchObject({
      method: 'POST',
      path: `${OWN}/deletion`,
      body: { deletionDays: 14 },
      token: 'first token',
    });
    await expectAccessible();
  });

  it('go at once where the site waits no day', async () => {
    const { user } = openPage('/account/privacy', account({ deletionDays: 0 }), none, ok({ isDeleted: true }));
    await user.click(await screen.findByRole('button', { name: en.deletionAction }));
    expect(screen.getByText(en.deletionAtOnce)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: en.deletionAction }));
    expect(await screen.findByRole('heading', { level: 1, name: en.leftTitle })).toBeTruthy();
  });

  it('are asked about once more where the site has changed the days', async () => {
    const changed: Reply = {
      status: 400,
      body: {
        message: 'no',
        details: {
          validationError: { fieldViolations: [{ field: 'deletionDays', violatedRule: 'OTHER', description: 'no' }] },
        },
      },
    };
    const { sent, user } = openPage(
      '/account/privacy',
      account(),
      none,
      changed,
      account({ deletionDays: 0 }),
      ok({ isDeleted: true }),
    );
    await user.click(await screen.findByRole('button', { name: en.deletionAction }));
    await user.click(screen.getByRole('button', { name: en.deletionAction }));
    expect((await screen.findByRole('alert')).textContent).toBe(en.wrong.daysChanged);
    expect(screen.getByText(en.deletionAtOnce)).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.deletionAction }));
    expect(await screen.findByRole('heading', { level: 1, name: en.leftTitle })).toBeTruthy();
    expect(sent.at(-1)).toMatchObject({ path: `${OWN}/deletion`, body: { deletionDays: 0 } });
  });

  it('stay when the server refuses', async () => {
    const { user } = openPage('/account/privacy', account(), none, refused(429, 'THROTTLED_FEATURE'));
    await user.click(await screen.findByRole('button', { name: en.copyAction }));
    expect((await screen.findByRole('alert')).textContent).toBe(en.problem.tooMany);
  });
});

describe('the page that keeps an account', () => {
  beforeAll(() => import('../page/KeepPage.tsx'));

  const waiting = ok({ site: SITE, email: 'mara@example.org', deletionDate: DUE });
  const path = '/_api/account/v1/deletions';

  it('is found by what stands behind #', () => {
    expect(routeOf({ pathname: '/account/keep', search: '', hash: '#e1.x' })).toEqual({ to: 'keep', token: 'e1.x' });
    expect(routeOf({ pathname: '/account/keep', search: '?token=e1.x', hash: '' })).toEqual({ to: 'unknown' });
  });

  it('changes nothing by being opened, and keeps it with one press', async () => {
    const { sent, user } = openPage('/account/keep#e1.secret', waiting, ok({ site: SITE, email: 'mara@example.org' }));
    await screen.findByRole('heading', { level: 1, name: en.keepTitle({ site: SITE.name }) });
    expect(sent).toMatchObject([{ path, method: 'POST', body: { token: 'e1.secret' } }]);
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.keepAccount }));
    const title = await screen.findByRole('heading', { level: 1, name: en.keptTitle });
    expect(document.activeElement).toBe(title);
    expect(sent[1]).toMatchObject({ path: `${path}/undo`, method: 'POST', body: { token: 'e1.secret' } });
    expect(screen.getByRole('link', { name: en.signIn }).getAttribute('href')).toBe(`/s/${SITE.id}/account/sign-in`);
    await expectAccessible();
  });

  it('says that a link keeps nothing any more', async () => {
    const { user } = openPage('/account/keep#e1.secret', waiting, refused(400, 'INVALID_LINK'));
    await user.click(await screen.findByRole('button', { name: en.keepAccount }));
    expect(await screen.findByRole('heading', { level: 1, name: en.keepGoneTitle })).toBeTruthy();
    await expectAccessible();
  });

  it('tries again when there was no answer', async () => {
    const { user } = openPage('/account/keep#e1.secret', 'no answer', waiting);
    await user.click(await screen.findByRole('button', { name: en.tryAgain }));
    expect(await screen.findByText(en.passwordFor({ account: 'mara@example.org' }))).toBeTruthy();
  });
});
