import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { LANGUAGES } from '../text/languages.ts';
import { loadProviderTexts } from '../text/provider.ts';
import { account, factors, ok, refused } from './member.ts';
import { answerConnections, en, expectAccessible, openPage } from './page.tsx';
import { PROVIDERS, byPassword, linking, providerFailed, signInBy, viewOf } from './views.ts';

const FLOW = '/account/flow/aaaa.first';
const PAGE = '/account/password';
const OWN = '/s/s1/_api/identity/v1';
const text = en.provider;
const SIGNED_IN = viewOf({ type: 'DONE', message: 'SIGNED_IN' });
const ACME = text.continueWith({ provider: 'Acme' });

/** Where the page goes from here; jsdom itself goes nowhere. */
function withLocation() {
  const assign = vi.fn();
  const replace = vi.fn();
  const here = window.location;
  const get = (_: object, name: string | symbol): unknown =>
    name === 'assign' ? assign : name === 'replace' ? replace : Reflect.get(here, name);
  vi.stubGlobal('location', new Proxy({}, { get }));
  return { assign, replace };
}

const connection = (more: object = {}) => ({
  idpConnectionId: PROVIDERS[0]?.id,
  label: 'Acme',
  idpUserId: 'subject-1',
  email: 'mara@acme.example',
  createdDate: '2026-01-02T12:00:00.000Z',
  lastUsedDate: '2026-01-05T12:00:00.000Z',
  ...more,
});

describe('sign-in by a provider', () => {
  it('stands below the form, and goes there so that the way back leads here', async () => {
    const { assign, replace } = withLocation();
    const away = viewOf({ type: 'REDIRECT', url: 'https://acme.example/authorize?state=1' });
    const { user, inputs } = openPage(FLOW, signInBy(PROVIDERS), away);
    const press = await screen.findByRole('button', { name: ACME });
    expect(screen.getByRole('button', { name: text.continueWith({ provider: 'University of Lisbon' }) })).toBeTruthy();
    const order = press.compareDocumentPosition(screen.getByRole('button', { name: 'Sign in' }));
    expect(order & Node.DOCUMENT_POSITION_PRECEDING).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.click(press);
    await screen.findByRole('heading', { name: en.redirecting });
    expect(inputs()).toEqual([{ type: 'PROVIDER', id: PROVIDERS[0]?.id }]);
    await waitFor(() => {
      expect(assign.mock.calls).toEqual([['https://acme.example/authorize?state=1']]);
    });
    expect(replace).not.toHaveBeenCalled();
  });

  it('is sent once', async () => {
    const { user, inputs } = openPage(FLOW, signInBy(PROVIDERS), 'never');
    await user.dblClick(await screen.findByRole('button', { name: ACME }));
    expect(inputs()).toHaveLength(1);
  });

  it('says what is in its way', async () => {
    const busy = signInBy(PROVIDERS, { problems: [{ field: null, code: 'THROTTLED_FEATURE', message: 'slow down' }] });
    const { user } = openPage(FLOW, signInBy(PROVIDERS), busy);
    await user.click(await screen.findByRole('button', { name: ACME }));
    expect(await screen.findByText(en.problem.tooMany)).toBeTruthy();
  });

  it('is offered at sign-up too, and nowhere that has no provider', async () => {
    const step = { type: 'SIGN_UP', email: null, fields: [], passwordMinLength: 8, providers: PROVIDERS } as const;
    openPage(FLOW, viewOf({ ...step, fields: [], providers: PROVIDERS }, { kind: 'SIGN_UP' }));
    expect(await screen.findByRole('button', { name: ACME })).toBeTruthy();
  });
});

describe('a provider that signs in no one', () => {
  it('leaves two ways on', async () => {
    const { user, inputs } = openPage(FLOW, providerFailed('DECLINED'), providerFailed('UNAVAILABLE'), signInBy([]));
    expect(await screen.findByText(text.failed.DECLINED({ provider: 'Acme' }))).toBeTruthy();
    await user.click(screen.getByRole('button', { name: text.again({ provider: 'Acme' }) }));
    expect(await screen.findByText(text.failed.UNAVAILABLE({ provider: 'Acme' }))).toBeTruthy();
    await user.click(screen.getByRole('button', { name: en.backToSignIn }));
    expect(await screen.findByRole('textbox', { name: 'Email' })).toBeTruthy();
    expect(inputs()).toEqual([{ type: 'PROVIDER', id: PROVIDERS[0]?.id }, { type: 'BACK' }]);
  });

  it('is not asked again where the site makes no accounts by it', async () => {
    openPage(FLOW, providerFailed('NO_ACCOUNT'));
    expect(await screen.findByText(text.failed.NO_ACCOUNT({ provider: 'Acme' }))).toBeTruthy();
    expect(screen.queryByRole('button', { name: text.again({ provider: 'Acme' }) })).toBeNull();
  });
});

describe('an account with the address that the provider names', () => {
  it('is connected by its password', async () => {
    const wrong = linking({ problems: [{ field: null, code: 'INVALID_CREDENTIALS', message: 'wrong' }] });
    const { user, inputs } = openPage(FLOW, linking(), wrong, SIGNED_IN);
    expect(await screen.findByText(text.linkText({ provider: 'Acme', email: 'mara@example.org' }))).toBeTruthy();
    const password = screen.getByLabelText('Password');
    await waitFor(() => {
      expect(document.activeElement).toBe(password);
    });
    await user.keyboard('{Enter}');
    expect(screen.getByText(en.problem.required)).toBeTruthy();
    await user.type(password, 'guess{Enter}');
    expect(await screen.findByText(text.wrongPassword)).toBeTruthy();
    await waitFor(() => {
      expect(document.activeElement).toBe(password);
    });
    await expectAccessible();
    await user.clear(password);
    await user.type(password, 'secret{Enter}');
    await screen.findByRole('heading', { name: en.done.SIGNED_IN });
    expect(inputs()).toEqual([
      { type: 'LINK_PROVIDER', password: 'guess', captcha: null },
      { type: 'LINK_PROVIDER', password: 'secret', captcha: null },
    ]);
  });

  it('whose password is forgotten is recovered', async () => {
    const { user, inputs } = openPage(FLOW, linking(), viewOf({ type: 'RECOVER_REQUEST', email: 'mara@example.org' }));
    await user.click(await screen.findByRole('button', { name: en.forgot }));
    await screen.findByRole('heading', { name: en.recoverTitle });
    expect(inputs()).toEqual([{ type: 'SWITCH', to: 'RECOVER', email: 'mara@example.org' }]);
  });
});

describe('the password as second factor', () => {
  it('is asked for after a provider', async () => {
    const wrong = byPassword(['PASSWORD'], { problems: [{ field: 'code', code: 'INVALID_CODE', message: 'wrong' }] });
    const { user, inputs } = openPage(FLOW, byPassword(['PASSWORD']), wrong, SIGNED_IN);
    expect(await screen.findByText(text.factorText({ site: 'Atlas' }))).toBeTruthy();
    const password = screen.getByLabelText('Password');
    await user.type(password, 'guess{Enter}');
    expect(await screen.findByText(text.wrongPassword)).toBeTruthy();
    await user.clear(password);
    await user.type(password, 'secret{Enter}');
    await screen.findByRole('heading', { name: en.done.SIGNED_IN });
    expect(inputs().at(-1)).toEqual({ type: 'SECOND_FACTOR', factor: 'PASSWORD', code: 'secret', remember: false });
  });

  it('can be chosen in the place of another', async () => {
    const { user } = openPage(FLOW, byPassword(['TOTP', 'PASSWORD', 'RECOVERY_CODE']));
    await user.click(await screen.findByRole('button', { name: text.usePassword }));
    await waitFor(() => {
      expect(document.activeElement).toBe(screen.getByLabelText('Password'));
    });
    await expectAccessible();
  });
});

describe('connected providers in My account', () => {
  it('are not spoken of where there are none', async () => {
    openPage(PAGE, account(), factors());
    await screen.findByRole('heading', { name: en.factorsTitle });
    expect(screen.queryByRole('heading', { name: text.title })).toBeNull();
  });

  it('are disconnected once the member has shown who they are', async () => {
    answerConnections(ok({ connections: [connection()] }));
    const { sent, user } = openPage(
      PAGE,
      account(),
      factors(),
      refused(403, 'INSUFFICIENT_USER_AUTHENTICATION'),
      factors(),
      ok({ provedUntil: '2026-01-02T12:10:00.000Z' }),
      ok({}),
      factors(),
    );
    const part = within(await screen.findByRole('region', { name: text.title }));
    expect(part.getByText('mara@acme.example')).toBeTruthy();
    const press = part.getByRole('button', { name: text.disconnectTitle({ provider: 'Acme' }) });
    await user.click(press);
    await expectAccessible();
    await waitFor(() => {
      expect(document.activeElement?.textContent).toBe(en.keep);
    });
    await user.click(part.getByRole('button', { name: text.disconnect }));
    answerConnections(ok({ connections: [] }));
    await user.type(await screen.findByLabelText('Password'), 'secret{Enter}');
    expect(await screen.findByText(text.disconnected)).toBeTruthy();
    expect(await screen.findByText(text.none)).toBeTruthy();
    const ending = { method: 'DELETE', path: `${OWN}/connections/${PROVIDERS[0]?.id}` };
    expect([sent[2], sent[5]]).toMatchObject([ending, ending]);
  });

  it('stay where one is the last way in', async () => {
    answerConnections(ok({ connections: [connection({ email: undefined, lastUsedDate: undefined })] }));
    const { user } = openPage(PAGE, account({ hasPassword: false }), factors(), refused(409, 'LAST_WAY_IN'));
    await user.click(await screen.findByRole('button', { name: text.disconnectTitle({ provider: 'Acme' }) }));
    await user.click(screen.getByRole('button', { name: text.disconnect }));
    expect((await screen.findByRole('alert')).textContent).toBe(text.lastWayIn);
    expect(screen.getByText(text.factorsNone)).toBeTruthy();
  });

  it('can not be shown without an answer', async () => {
    answerConnections('no answer');
    const { user } = openPage(PAGE, account(), factors());
    const part = within(await screen.findByRole('region', { name: text.title }));
    expect(part.getByText(en.offlineText)).toBeTruthy();
    answerConnections(ok({ connections: [connection()] }));
    await user.click(part.getByRole('button', { name: en.tryAgain }));
    expect(await part.findByText('Acme')).toBeTruthy();
  });

  it('let the password be asked for as well, and no more', async () => {
    const one = { id: 'f1', type: 'PASSWORD', name: '', createdDate: '2026-01-02T12:00:00.000Z' };
    answerConnections(ok({ connections: [connection()] }));
    const { sent, user } = openPage(
      PAGE,
      account(),
      factors({ addable: ['TOTP', 'PASSWORD'] }),
      ok({ factor: one }),
      factors({ factors: [one] }),
      ok({}),
      factors(),
    );
    await user.click(await screen.findByRole('button', { name: text.addFactor }));
    expect(await screen.findByText(text.factorReady)).toBeTruthy();
    expect(sent[2]).toMatchObject({ method: 'POST', path: `${OWN}/factors`, body: { type: 'PASSWORD' } });
    expect(await screen.findByText(text.factor)).toBeTruthy();
    expect(screen.queryByRole('button', { name: en.newCodes })).toBeNull();
    await user.click(screen.getByRole('button', { name: `${en.remove}: ${text.factor}` }));
    expect(screen.getByText(text.removeFactor)).toBeTruthy();
    await expectAccessible();
    await user.click(screen.getByRole('button', { name: en.remove }));
    expect(await screen.findByText(en.factorRemoved)).toBeTruthy();
    expect(sent[4]).toMatchObject({ method: 'DELETE', path: `${OWN}/factors/f1` });
  });
});

describe('the texts of providers', () => {
  it.each(LANGUAGES)('%s names the provider where it is spoken of', async (tag) => {
    const said = await loadProviderTexts(tag);
    const provider = 'Acme';
    for (const sentence of [
      said.continueWith({ provider }),
      said.linkTitle({ provider }),
      said.failedTitle({ provider }),
      said.disconnectTitle({ provider }),
      ...Object.values(said.failed).map((it) => it({ provider })),
    ])
      expect(sentence).toContain(provider);
  });
});
