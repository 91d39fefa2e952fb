/** The page to which a notification leads. */
import { screen } from '@testing-library/react';
import { beforeAll, describe, expect, it } from 'vitest';
import { routeOf } from '../flow/route.ts';
import { loadOtherTexts } from '../text/later.ts';
import { ok, refused } from './member.ts';
import { en, expectAccessible, openPage } from './page.tsx';
import { SITE } from './views.ts';

const PAGE = `/s/${SITE.id}/account/push#a-token`;
const READ = `/s/${SITE.id}/_api/identity/v1/push-questions`;
const { push: text } = en;

const question = (more: object = {}) =>
  ok({
    site: SITE,
    for: 'SIGN_IN',
    device: 'Firefox on Linux',
    address: '203.0.113.7',
    createdDate: '2026-01-02T12:00:00.000Z',
    expiresDate: '2026-01-02T12:02:00.000Z',
    ...more,
  });
const title = (name: string) => screen.findByRole('heading', { level: 1, name });
const ASKED = text.askTitle({ site: 'Atlas' });
const field = () => screen.findByRole('textbox', { name: text.number });

// They are fetched when they are needed; here the first test must not wait for that.
beforeAll(() => Promise.all([import('../page/TokenPage.tsx'), loadOtherTexts('en')]), 30_000);

describe('the page of a notification', () => {
  it('is found by what stands behind #', () => {
    expect(routeOf({ pathname: '/account/push', search: '', hash: '#a-token' })).toEqual({
      to: 'push',
      token: 'a-token',
    });
    expect(routeOf({ pathname: '/account/push', search: '?token=a-token', hash: '' })).toEqual({ to: 'unknown' });
  });

  it('changes nothing by being opened, says who asks, and goes on with the number', async () => {
    const { sent, user } = openPage(PAGE, question(), ok({}));
    expect(await title(ASKED)).toBeTruthy();
    expect(screen.getByText('Firefox on Linux')).toBeTruthy();
    expect(screen.getByText('203.0.113.7')).toBeTruthy();
    expect(screen.getByText(/2026/)).toBeTruthy();
    expect(sent).toEqual([{ method: 'POST', path: READ, body: { token: 'a-token' } }]);
    await expectAccessible();
    const number = await field();
    await user.type(number, '4{Enter}');
    expect(screen.getByText(en.problem.required)).toBeTruthy();
    expect([sent.length, document.activeElement]).toEqual([1, number]);
    await user.type(number, '2{Enter}');
    const confirmed = await title(text.confirmedTitle);
    expect(document.activeElement).toBe(confirmed);
    expect(sent[1]).toEqual({
      method: 'POST',
      path: `${READ}/answer`,
      body: { token: 'a-token', number: '42' },
    });
    await expectAccessible();
  });

  it('denies with one press, and leads those who did not sign in to the password and the sessions', async () => {
    const { sent, user } = openPage(PAGE, question({ device: undefined, address: undefined }), ok({}));
    expect(await screen.findByText(en.unknownDevice)).toBeTruthy();
    expect(screen.queryByText(text.address)).toBeNull();
    await user.click(screen.getByRole('button', { name: text.deny }));
    expect(document.activeElement).toBe(await title(text.deniedTitle));
    expect(sent[1]?.body).toEqual({ token: 'a-token', denied: true });
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: text.notMe }));
    expect(document.activeElement).toBe(await title(text.protectTitle));
    const links = screen.getAllByRole('link', { name: new RegExp(`${text.changePassword}|${text.seeSessions}`) });
    expect(links.map((it) => it.getAttribute('href'))).toEqual(['/s/s1/account/password', '/s/s1/account/sessions']);
    await expectAccessible();
  });

  it('says that it is about a change of the account', async () => {
    const { user } = openPage(PAGE, question({ for: 'CHANGE' }), ok({}));
    expect(await title(text.change.askTitle({ site: 'Atlas' }))).toBeTruthy();
    expect(screen.getByText(text.change.askText)).toBeTruthy();
    expect(screen.getByRole('textbox', { name: text.change.number })).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: text.deny }));
    expect(document.activeElement).toBe(await title(text.change.deniedTitle));
    await user.click(screen.getByRole('button', { name: text.notMe }));
    expect(screen.getByText(text.change.protectText)).toBeTruthy();
  });

  it('ends with another number', async () => {
    const { user } = openPage(PAGE, question(), refused(400, 'VERIFICATION_FAILED'));
    await user.type(await field(), '13{Enter}');
    expect(await title(text.wrongTitle)).toBeTruthy();
    expect(screen.getByRole('button', { name: text.notMe })).toBeTruthy();
    expect(screen.queryByRole('textbox')).toBeNull();
  });

  it('says that there is nothing left to answer, at once or when it is answered', async () => {
    const { user } = openPage(PAGE, question(), refused(404, 'NOT_FOUND'));
    await user.type(await field(), '42{Enter}');
    expect(await title(text.goneTitle)).toBeTruthy();
    await expectAccessible();
  });

  it('says the same of a question that is unknown', async () => {
    openPage(PAGE, refused(404, 'NOT_FOUND'));
    expect(await title(text.goneTitle)).toBeTruthy();
  });

  it('can be tried again without an answer, and keeps what was typed', async () => {
    const { sent, user } = openPage(PAGE, 'no answer', question(), 'no answer', ok({}));
    expect(await title(en.offlineTitle)).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.tryAgain }));
    await user.type(await field(), '42{Enter}');
    expect((await screen.findByRole('alert')).textContent).toBe(en.offlineText);
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: text.confirm }));
    expect(await title(text.confirmedTitle)).toBeTruthy();
    expect(sent.at(-1)?.body).toEqual({ token: 'a-token', number: '42' });
  });

  it('says that a network has asked too often', async () => {
    openPage(PAGE, refused(429, 'THROTTLED_FEATURE'));
    expect(await screen.findByText(en.problem.tooMany)).toBeTruthy();
  });
});
