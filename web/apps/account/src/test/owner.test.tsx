import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { HERE, PHONE, UNKNOWN, factors, ownerAccount as account, refused } from './member.ts';
import { en, expectAccessible, openPage, openPageUnasked } from './page.tsx';
import { SITE, viewOf } from './views.ts';

const signIns = () => within(screen.getByRole('region', { name: en.sessionsTitle }));

describe('the page of those who run a site', () => {
  it('says where they are signed in, and asks beneath the site of its address', async () => {
    const { sent } = openPage('/s/s1/account/security', account(), factors());
    await screen.findByRole('heading', { level: 2, name: en.factorsTitle });
    expect(sent.map((it) => it.path)).toEqual([
      '/s/s1/_api/account/v1/operator',
      '/s/s1/_api/account/v1/operator/factors',
    ]);
    expect(screen.getByText(en.factorsNone)).toBeTruthy();
    const list = signIns();
    expect(list.getAllByRole('listitem')).toHaveLength(3);
    expect(list.getByText(en.unknownDevice)).toBeTruthy();
    expect(list.getByText(en.sessionHere)).toBeTruthy();
    expect(list.getAllByText(en.sessionFrom({ address: '192.0.2.7' }))).toHaveLength(2);
    expect(list.getAllByText(en.sessionPlace({ place: 'Basel, Switzerland' }))).toHaveLength(2);
    expect(sent[0]?.language).toBe('en');
    await expectAccessible();
  });

  it("is in the site's language where the browser asks for none that there is", async () => {
    openPageUnasked('/account/security', account({ site: { ...SITE, language: 'de' } }), factors());
    await waitFor(() => {
      expect(document.documentElement.lang).toBe('de');
    });
  });

  it('ends one session, or all others', async () => {
    const { sent, user } = openPage(
      '/account/security',
      account(),
      factors(),
      account({ sessions: [HERE, UNKNOWN] }),
      account({ sessions: [HERE, PHONE, UNKNOWN] }),
      account({ sessions: [HERE] }),
    );
    await user.click(await screen.findByRole('button', { name: /^Sign out there: Safari/ }));
    await waitFor(() => {
      expect(signIns().getAllByRole('listitem')).toHaveLength(2);
    });
    expect(sent[2]).toMatchObject({ path: '/_api/account/v1/operator/sessions/end', body: { session: 'b' } });
    expect(screen.getByRole('status').textContent).toBe(en.sessionEnded);
    expect(screen.queryByRole('button', { name: en.endOthers })).toBeNull();
    await user.click(screen.getByRole('button', { name: /^Sign out there: Unknown/ }));
    await user.click(await screen.findByRole('button', { name: en.endOthers }));
    await waitFor(() => {
      expect(signIns().getAllByRole('listitem')).toHaveLength(1);
    });
    expect(sent[4]).toMatchObject({ path: '/_api/account/v1/operator/sessions/end-others', body: {} });
  });

  it('changes the password, and says at the field what is wrong', async () => {
    const wrong = { field: 'old', code: 'INVALID_CREDENTIALS', message: 'no' };
    const { sent, user } = openPage(
      '/account/security',
      account(),
      factors(),
      account({ problems: [wrong] }),
      account(),
    );
    const old = await screen.findByLabelText(en.oldPassword);
    await user.click(screen.getByRole('button', { name: en.savePassword }));
    expect(screen.getAllByText(en.problem.required)).toHaveLength(2);
    expect(sent).toHaveLength(2);
    await user.type(old, 'the old one');
    await user.type(screen.getByLabelText(en.newPassword), 'quite another');
    await user.click(screen.getByRole('button', { name: en.savePassword }));
    expect(await screen.findByText(en.problem.credentials)).toBeTruthy();
    expect(sent[2]).toMatchObject({
      path: '/_api/account/v1/operator/password',
      body: { old: 'the old one', password: 'quite another' },
    });
    expect((screen.getByLabelText(en.oldPassword) as HTMLInputElement).value).toBe('the old one');
    await user.click(screen.getByRole('button', { name: en.savePassword }));
    expect(await screen.findByText(en.done.PASSWORD_CHANGED)).toBeTruthy();
    expect((screen.getByLabelText(en.oldPassword) as HTMLInputElement).value).toBe('');
    await expectAccessible();
  });

  it('leads to the sign-in of those who run the site', async () => {
    openPage('/s/s1/account/security', refused(401, 'UNAUTHENTICATED'));
    const link = await screen.findByRole('link', { name: en.signIn });
    expect(link.getAttribute('href')).toBe('/s/s1/account/owner');
  });

  it('is found from the end of their sign-in', async () => {
    const done = viewOf({ type: 'DONE', message: 'SIGNED_IN' }, { kind: 'OWNER_SIGN_IN' });
    openPage('/account/flow/aaaa.first', done);
    const link = await screen.findByRole('link', { name: en.securityTitle });
    expect(link.getAttribute('href')).toBe('/s/s1/account/security');
  });
});

describe('the looks of a site', () => {
  const open = (site: Partial<typeof SITE>) =>
    openPage(
      '/account/flow/aaaa.first',
      viewOf(
        { type: 'SIGN_IN', email: null, canSignUp: true, canRecover: true, passkey: null, providers: [] },
        { site: { ...SITE, ...site } },
      ),
    );

  it('are its logo, its colours and its links', async () => {
    const palette = { accent: '#0b5394', accentStrong: '#094478', accentText: '#ffffff', accentSurface: '#e6eef4' };
    open({
      logoUrl: 'https://www.example.org/logo.svg',
      colours: { light: palette, dark: { ...palette, accent: '#88bbee' } },
      termsUrl: 'https://www.example.org/terms',
      privacyUrl: 'https://www.example.org/privacy',
    });
    expect((await screen.findByRole('img', { name: 'Atlas' })).getAttribute('src')).toBe(
      'https://www.example.org/logo.svg',
    );
    expect(document.documentElement.style.getPropertyValue('--accent')).toBe('light-dark(#0b5394, #88bbee)');
    const terms = screen.getByRole('link', { name: en.terms });
    expect([terms.getAttribute('href'), terms.getAttribute('rel')]).toEqual([
      'https://www.example.org/terms',
      'noopener noreferrer',
    ]);
    expect(screen.getByRole('link', { name: en.privacy })).toBeTruthy();
    await expectAccessible();
  });

  it('are never what could run or reach beyond a colour', async () => {
    const palette = { accent: 'red;x:url(//a)', accentStrong: '#1', accentText: '#fffffff', accentSurface: '' };
    open({
      logoUrl: 'javascript:alert(1)',
      colours: { light: palette, dark: palette },
      termsUrl: 'javascript:alert(1)',
    });
    await screen.findByRole('heading', { level: 1 });
    expect(screen.queryByRole('img', { name: 'Atlas' })).toBeNull();
    expect(screen.queryByRole('link', { name: en.terms })).toBeNull();
    expect(document.documentElement.style.getPropertyValue('--accent')).toBe('');
  });
});

it('what was typed is kept apart for sites that share a host', async () => {
  const view = viewOf({
    type: 'SIGN_IN',
    email: null,
    canSignUp: true,
    canRecover: true,
    passkey: null,
    providers: [],
  });
  const { user } = openPage('/s/s1/account/flow/aaaa.first', view);
  await user.type(await screen.findByLabelText(en.email), 'mara@example.org');
  expect(sessionStorage.getItem('stoa.account.email/s/s1')).toBe('mara@example.org');
  expect(sessionStorage.getItem('stoa.account.email')).toBeNull();
});
