import { screen, waitFor, within } from '@testing-library/react';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadLaterTexts } from '../text/later.ts';
import { account as accountOf, ok } from './member.ts';
import { en, expectAccessible, openPage } from './page.tsx';
import { SITE } from './views.ts';

const account = accountOf();
const sessions = ok({ sessions: [] });
const listed = (...names: string[]) =>
  ok({
    applications: names.map((name) => ({
      id: name,
      name,
      home: 'https://partner.example.org',
      ...(name === 'All' ? {} : { scopes: name === 'Sign-on' ? [] : ['items:read:posts', 'members:read'] }),
      createdDate: '2026-01-02T12:00:00.000Z',
      lastUsedDate: '2026-01-03T12:00:00.000Z',
    })),
  });

beforeAll(
  () =>
    Promise.all([
      import('../my/MyPage.tsx'),
      import('../my/AccountGate.tsx'),
      import('../page/WithLaterTexts.tsx'),
      loadLaterTexts('en'),
    ]),
  30_000,
);

const part = async () => within(await screen.findByRole('region', { name: en.appsTitle }));

describe('applications of others', () => {
  it('are shown with what they may do, and signed off after a question', async () => {
    const { sent, user } = openPage(
      '/account/sessions',
      account,
      sessions,
      listed('All', 'Ledger'),
      ok({}),
      listed('All'),
    );
    const apps = await part();
    expect(await apps.findByText(en.scope.itemsReadIn({ collection: 'posts' }))).toBeTruthy();
    expect(apps.getByText(en.appMayAll)).toBeTruthy();
    expect(apps.getAllByText('https://partner.example.org')).toHaveLength(2);
    await expectAccessible();
    await user.click(apps.getByRole('button', { name: en.appEndTitle({ name: 'Ledger' }) }));
    expect(document.activeElement?.textContent).toBe(en.keep);
    await expectAccessible();
    await user.click(apps.getByRole('button', { name: en.keep }));
    expect([document.activeElement?.textContent, sent.length]).toEqual([en.appsTitle, 3]);
    await user.click(apps.getByRole('button', { name: en.appEndTitle({ name: 'Ledger' }) }));
    await user.click(apps.getByRole('button', { name: en.appEnd }));
    expect(await apps.findByText(en.appEnded)).toBeTruthy();
    expect(sent[3]).toMatchObject({ method: 'DELETE', path: `/s/${SITE.id}/_api/identity/v1/applications/Ledger` });
    await waitFor(() => {
      expect(apps.queryByText('Ledger')).toBeNull();
    });
  });

  it('are none, could not be asked for, or stay', async () => {
    const { user } = openPage('/account/sessions', account, sessions, 'no answer', listed('Ledger'), 'no answer');
    const apps = await part();
    await user.click(await apps.findByRole('button', { name: en.tryAgain }));
    await user.click(await apps.findByRole('button', { name: en.appEndTitle({ name: 'Ledger' }) }));
    await user.click(apps.getByRole('button', { name: en.appEnd }));
    expect((await apps.findByRole('alert')).textContent).toBe(en.offlineText);
    expect(apps.getByText('Ledger')).toBeTruthy();
  });

  it('that may do nothing know who the member is', async () => {
    openPage('/account/sessions', account, sessions, listed('Sign-on'));
    const apps = await part();
    expect((await apps.findByText(en.appMayKnow)).closest('ul')?.children).toHaveLength(1);
    await expectAccessible();
  });

  it('say that there is none', async () => {
    openPage('/account/sessions', account, sessions, listed());
    expect(await (await part()).findByText(en.appsNone)).toBeTruthy();
  });
});
