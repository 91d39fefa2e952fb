import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { postResult } from '../flow/postResult.ts';
import en from '../text/en.ts';
import { expectAccessible, openPage, openPageUnasked } from './page.tsx';
import { VIEWS, viewOf } from './views.ts';

const signIn = VIEWS.SIGN_IN[0]?.view ?? viewOf({ type: 'DONE', message: 'SIGNED_IN' });
const signUp = VIEWS.SIGN_UP[0]?.view ?? signIn;
const secondFactor = VIEWS.SECOND_FACTOR[0]?.view ?? signIn;
const FLOW = '/account/flow/aaaa.first';

describe('addresses', () => {
  it('reads a flow by its token and shows the new token in the address', async () => {
    const { sent } = openPage(FLOW, signIn);
    await screen.findByRole('heading');
    expect(sent).toEqual([{ method: 'GET', path: '/_api/account/v1/flows/aaaa.first', body: null }]);
    expect(location.pathname).toBe('/account/flow/aaaa.next');
  });

  it.each([
    [
      '/account/sign-in?clientId=c1&returnUrl=https%3A%2F%2Fapp.example%2F',
      { kind: 'SIGN_IN', clientId: 'c1', returnUrl: 'https://app.example/' },
    ],
    ['/account/sign-up', { kind: 'SIGN_UP' }],
    ['/account/sign-out', { kind: 'SIGN_OUT' }],
    ['/account/owner', { kind: 'OWNER_SIGN_IN' }],
    ['/account/setup#inv.1', { kind: 'OWNER_SETUP', invite: 'inv.1' }],
    ['/account/setup?invite=inv.2', { kind: 'OWNER_SETUP', invite: 'inv.2' }],
  ])('%s asks for a flow', async (address, body) => {
    const { sent } = openPage(address, signIn);
    await screen.findByRole('heading');
    expect(sent).toEqual([{ method: 'POST', path: '/_api/account/v1/flows', body }]);
    expect(location.pathname + location.search + location.hash).toBe('/account/flow/aaaa.next');
  });

  it('keeps the site that stands before the path', async () => {
    const { sent } = openPage('/s/s1/account/sign-in', signIn);
    await screen.findByRole('heading');
    expect(sent).toEqual([{ method: 'POST', path: '/s/s1/_api/account/v1/flows', body: { kind: 'SIGN_IN' } }]);
    expect(location.pathname).toBe('/s/s1/account/flow/aaaa.next');
  });

  it('sends nothing when the invitation or the page is missing', async () => {
    const { sent } = openPage('/account/setup', signIn);
    await screen.findByRole('heading', { name: 'The invitation is missing' });
    expect(sent).toEqual([]);
  });
});

describe('sign-in', () => {
  it('sends what was typed, once', async () => {
    const { user, inputs } = openPage(FLOW, signIn, 'never');
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), ' mara@example.org ');
    await user.type(screen.getByLabelText('Password'), 'a b c{Enter}{Enter}');
    await waitFor(() => {
      expect(inputs()).toEqual([{ type: 'SIGN_IN', email: 'mara@example.org', password: 'a b c', captcha: null }]);
    });
  });

  it('says at the field what is missing and sends nothing', async () => {
    const { user, inputs } = openPage(FLOW, signIn);
    await user.click(await screen.findByRole('button', { name: 'Sign in' }));
    const email = screen.getByRole('textbox', { name: 'Email' });
    expect(email.getAttribute('aria-invalid')).toBe('true');
    expect(
      document.getElementById((email.getAttribute('aria-describedby') ?? '').split(' ')[0] ?? '')?.textContent,
    ).toBe('Please fill this in.');
    await waitFor(() => {
      expect(document.activeElement).toBe(email);
    });
    expect(inputs()).toEqual([]);
  });

  it('keeps what was typed when the server refuses, and moves the focus to the reason', async () => {
    const refused = { ...signIn, problems: [{ field: null, code: '-19976', message: 'wrong' }] };
    const { user } = openPage(FLOW, signIn, refused);
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
    const alert = await screen.findByRole('alert');
    expect(within(alert).getByText('The email or password does not match.')).toBeTruthy();
    await waitFor(() => {
      expect(document.activeElement).toBe(alert);
    });
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Email' }).value).toBe('mara@example.org');
    expect(screen.getByLabelText<HTMLInputElement>('Password').value).toBe('secret');
  });

  it('keeps what was typed when there is no answer, and sends again', async () => {
    const { user, inputs } = openPage(FLOW, signIn, 'no answer', {
      ...signIn,
      step: { type: 'DONE', message: 'SIGNED_IN' },
    });
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
    expect((await screen.findByRole('alert')).textContent).toContain('No connection');
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(inputs()).toHaveLength(2);
  });

  it('reveals and hides the password', async () => {
    const { user } = openPage(FLOW, signIn);
    const password = await screen.findByLabelText<HTMLInputElement>('Password');
    await user.click(screen.getByRole('button', { name: 'Show password' }));
    expect(password.type).toBe('text');
    await user.click(screen.getByRole('button', { name: 'Hide password' }));
    expect(password.type).toBe('password');
  });

  it('takes a password that is pasted, and tells password managers what it is', async () => {
    const { user, inputs } = openPage(FLOW, signIn, 'never');
    const email = await screen.findByRole('textbox', { name: 'Email' });
    const password = screen.getByLabelText('Password');
    expect([email, password].map((it) => it.getAttribute('autocomplete'))).toEqual(['username', 'current-password']);
    await user.type(email, 'mara@example.org');
    await user.click(password);
    await user.paste(' a b c ');
    await user.keyboard('{Enter}');
    await waitFor(() => {
      expect(inputs()).toEqual([{ type: 'SIGN_IN', email: 'mara@example.org', password: ' a b c ', captcha: null }]);
    });
  });

  it('takes the address along to sign-up', async () => {
    const { user, inputs } = openPage(FLOW, signIn, signUp);
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.click(screen.getByRole('button', { name: 'Create an account' }));
    await screen.findByRole('heading', { name: 'Create your account' });
    expect(inputs()).toEqual([{ type: 'SWITCH', to: 'SIGN_UP', email: 'mara@example.org' }]);
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Email' }).value).toBe('mara@example.org');
  });
});

describe('the other steps send what the server expects', () => {
  it('sign-up, with the problems at their fields', async () => {
    const refused = {
      ...signUp,
      problems: [{ field: 'profile.firstName', code: 'ODD', message: 'The server says so.' }],
    };
    const { user, inputs } = openPage(FLOW, signUp, refused);
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.type(screen.getByRole('textbox', { name: 'First name' }), 'Mara');
    await user.type(screen.getByLabelText('Password'), 'short');
    await user.click(screen.getByRole('button', { name: 'Create account' }));
    expect(screen.getByText('Please use at least 8 characters.')).toBeTruthy();
    expect(inputs()).toEqual([]);
    await user.type(screen.getByLabelText('Password'), ' but longer now{Enter}');
    expect(await screen.findByText('The server says so.')).toBeTruthy();
    await waitFor(() => {
      expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'First name' }));
    });
    expect(inputs()).toEqual([
      {
        type: 'SIGN_UP',
        email: 'mara@example.org',
        password: 'short but longer now',
        captcha: null,
        profile: { firstName: 'Mara', lastName: null, nickname: null },
      },
    ]);
  });

  it('a password that is known from a leak, with the reason at its field', async () => {
    const refused = { ...signUp, problems: [{ field: 'password', code: 'PASSWORD_LEAKED', message: 'known' }] };
    const { user } = openPage(FLOW, signUp, refused);
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.type(screen.getByRole('textbox', { name: 'First name' }), 'Mara');
    await user.type(screen.getByLabelText('Password'), 'violet umbrella 42{Enter}');
    expect(await screen.findByText(/^This password is known from a leak elsewhere\./)).toBeTruthy();
    await waitFor(() => {
      expect(document.activeElement).toBe(screen.getByLabelText('Password'));
    });
  });

  it('a pasted code, whatever stands around its digits', async () => {
    const { user, inputs } = openPage(FLOW, viewOf({ type: 'VERIFY_EMAIL', emailHint: 'm', resendAfterSeconds: 0 }));
    await user.click(await screen.findByRole('textbox', { name: '6-digit code' }));
    await user.paste(' 123-٤٥6 ');
    await waitFor(() => {
      expect(inputs()).toEqual([{ type: 'VERIFY_EMAIL', code: '123456' }]);
    });
  });

  it('a new code, and says that it was sent', async () => {
    const { user, inputs } = openPage(FLOW, viewOf({ type: 'VERIFY_EMAIL', emailHint: 'm', resendAfterSeconds: 0 }));
    await user.click(await screen.findByRole('button', { name: 'Send a new code' }));
    await waitFor(() => {
      expect(screen.getByRole('status').textContent).toBe('A new code is on its way.');
    });
    expect(inputs()).toEqual([{ type: 'RESEND' }]);
  });

  it('a code of an authenticator, and whether to ask again', async () => {
    const { user, inputs } = openPage(FLOW, secondFactor);
    await user.type(await screen.findByRole('textbox', { name: '6-digit code' }), '12345{Enter}');
    expect(await screen.findByText('The code is wrong or has expired.')).toBeTruthy();
    expect(inputs()).toEqual([]);
    await user.click(screen.getByRole('checkbox', { name: 'Do not ask again in this browser for 30 days' }));
    await user.type(screen.getByRole('textbox', { name: '6-digit code' }), '6{Enter}');
    await waitFor(() => {
      expect(inputs()).toEqual([{ type: 'SECOND_FACTOR', factor: 'TOTP', code: '123456', remember: true }]);
    });
  });

  it('a recovery code in place of it', async () => {
    const refused = { ...secondFactor, problems: [{ field: 'code', code: 'INVALID_CODE', message: '' }] };
    const { user, inputs } = openPage(FLOW, secondFactor, refused);
    await user.type(await screen.findByRole('textbox', { name: '6-digit code' }), '123456{Enter}');
    expect(await screen.findByText('The code is wrong or has expired.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Use a recovery code' }));
    const field = screen.getByRole('textbox', { name: 'Recovery code' });
    expect(field.getAttribute('aria-invalid')).not.toBe('true');
    await waitFor(() => {
      expect(document.activeElement).toBe(field);
    });
    await user.type(field, 'ABCD-EFGH-IJKL-MNOP{Enter}');
    await waitFor(() => {
      expect(inputs().at(-1)).toEqual({
        type: 'SECOND_FACTOR',
        factor: 'RECOVERY_CODE',
        code: 'ABCD-EFGH-IJKL-MNOP',
        remember: false,
      });
    });
  });

  it('a code by email, once it was sent', async () => {
    const [, asks, sent] = VIEWS.SECOND_FACTOR.map((it) => it.view);
    const { user, inputs } = openPage(FLOW, asks ?? signIn, sent ?? signIn, sent ?? signIn);
    expect(await screen.findByText('We can send a code to your email address.')).toBeTruthy();
    expect(screen.queryByRole('textbox')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Send a code' }));
    const code = await screen.findByRole('textbox', { name: '6-digit code' });
    expect(screen.getByText(/We sent a 6-digit code to m\*\*\*@example\.org/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Send a new code' }));
    await waitFor(() => {
      const resend = { type: 'RESEND', factor: 'EMAIL' };
      expect(inputs()).toEqual([resend, resend]);
    });
    await user.type(code, '123456{Enter}');
    await waitFor(() => {
      expect(inputs().at(-1)).toEqual({ type: 'SECOND_FACTOR', factor: 'EMAIL', code: '123456', remember: false });
    });
  });

  it('a code by text message, and then by a call', async () => {
    const [asks, message, call] = VIEWS.SECOND_FACTOR.slice(3).map((it) => it.view);
    const { user, inputs } = openPage(FLOW, asks ?? signIn, message ?? signIn, call ?? signIn, call ?? signIn);
    expect(await screen.findByText('We can send a code by text message to your phone.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Send a code' }));
    await screen.findByRole('textbox', { name: '6-digit code' });
    expect(screen.getByText(/We sent a 6-digit code to \+49\*\*\*78/)).toBeTruthy();
    expect(screen.queryByText(/spam/)).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Use a code by phone call' }));
    expect(screen.getByText('We can call your phone and say a code.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Send a code' }));
    await user.type(await screen.findByRole('textbox', { name: '6-digit code' }), '123456{Enter}');
    await waitFor(() => {
      expect(inputs()).toEqual([
        { type: 'RESEND', factor: 'SMS' },
        { type: 'RESEND', factor: 'CALL' },
        { type: 'SECOND_FACTOR', factor: 'CALL', code: '123456', remember: false },
      ]);
    });
  });

  it('another way is chosen among all that there are', async () => {
    const { user } = openPage(FLOW, secondFactor);
    await user.click(await screen.findByRole('button', { name: 'Use a code by email' }));
    const send = await screen.findByRole('button', { name: 'Send a code' });
    await waitFor(() => {
      expect(document.activeElement).toBe(send);
    });
    await user.click(screen.getByRole('button', { name: 'Use the authenticator app' }));
    expect(screen.getByRole('textbox', { name: '6-digit code' })).toBeTruthy();
  });

  it('an authenticator is set up, and the recovery codes are kept', async () => {
    const setup = VIEWS.ENROL_FACTOR[0]?.view ?? signIn;
    const kept = VIEWS.RECOVERY_CODES[0]?.view ?? signIn;
    const { user, inputs } = openPage(FLOW, VIEWS.OFFER_FACTOR[0]?.view ?? signIn, setup, kept);
    expect(await screen.findByText('You can put this off until December 24, 2026.')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Set it up' }));
    expect(await screen.findByRole('img', { name: 'QR code for the authenticator app' })).toBeTruthy();
    expect(screen.getByText('GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Copy' }));
    expect(await screen.findByText('Copied.')).toBeTruthy();
    expect(await navigator.clipboard.readText()).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    await user.type(screen.getByRole('textbox', { name: '6-digit code' }), '12345{Enter}');
    expect(await screen.findByText('The code is wrong or has expired.')).toBeTruthy();
    await user.type(screen.getByRole('textbox', { name: '6-digit code' }), '6{Enter}');
    expect(await screen.findByText('ABCD-EFGH-IJKL-MNOP')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'I have kept them' }));
    await waitFor(() => {
      expect(inputs()).toEqual([
        { type: 'ENROL_FACTOR' },
        { type: 'CONFIRM_FACTOR', code: '123456' },
        { type: 'CODES_KEPT' },
      ]);
    });
  });

  it('a second factor is put off only where the site lets it be', async () => {
    const { user, inputs } = openPage(
      FLOW,
      VIEWS.OFFER_FACTOR[0]?.view ?? signIn,
      VIEWS.OFFER_FACTOR[1]?.view ?? signIn,
    );
    await user.click(await screen.findByRole('button', { name: 'Not now' }));
    await waitFor(() => {
      expect(inputs()).toEqual([{ type: 'LATER' }]);
    });
    await waitFor(() => {
      expect(screen.queryByRole('button', { name: 'Not now' })).toBeNull();
    });
  });

  it('recovery codes are not shown again', async () => {
    const { user, inputs } = openPage(FLOW, VIEWS.RECOVERY_CODES[1]?.view ?? signIn);
    expect(await screen.findByText(/^They were shown once/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Go on' }));
    await waitFor(() => {
      expect(inputs()).toEqual([{ type: 'CODES_KEPT' }]);
    });
  });

  it('sign-out takes a click', async () => {
    const { user, inputs } = openPage(
      FLOW,
      viewOf({ type: 'CONFIRM_SIGN_OUT', displayName: null }, { kind: 'SIGN_OUT' }),
    );
    await user.click(await screen.findByRole('button', { name: 'Sign out' }));
    await waitFor(() => {
      expect(inputs()).toEqual([{ type: 'CONFIRM_SIGN_OUT' }]);
    });
  });

  it('a popup tells its opener, at the top level and at the exact origin, and closes', async () => {
    const posted: unknown[] = [];
    vi.stubGlobal('opener', {
      postMessage: (...args: unknown[]) => {
        posted.push(args);
      },
    });
    vi.stubGlobal('close', () => {
      posted.push('closed');
    });
    openPage(
      FLOW,
      viewOf({
        type: 'POST_MESSAGE',
        origin: 'https://app.example',
        code: null,
        state: 's1',
        error: 'login_required',
        errorDescription: 'Nobody is signed in.',
      }),
    );
    await screen.findByRole('heading', { name: 'All done' });
    await waitFor(() => {
      expect(posted).toEqual([
        [{ error: 'login_required', error_description: 'Nobody is signed in.', state: 's1' }, 'https://app.example'],
        'closed',
      ]);
    });
  });
});

it('a frame posts to its parent only', () => {
  const posted: unknown[] = [];
  const frame = {
    parent: {
      postMessage: (...args: unknown[]) => {
        posted.push(args);
      },
    },
    close: () => {
      posted.push('closed');
    },
  } as unknown as Window;
  const step = {
    type: 'POST_MESSAGE',
    origin: 'https://app.example',
    code: 'c1',
    state: 's1',
    error: null,
    errorDescription: null,
  } as const;
  expect(postResult(step, frame)).toBe(true);
  expect(posted).toEqual([[{ code: 'c1', state: 's1' }, 'https://app.example']]);
});

describe('when there is no view', () => {
  const refusal = (status: number, code: string) => ({
    status,
    body: { message: 'm', details: { applicationError: { code, description: 'The server says no.', data: {} } } },
  });

  it('an expired flow offers a new one', async () => {
    openPage(FLOW, refusal(404, 'NOT_FOUND'));
    await screen.findByRole('heading', { name: 'This page has expired' });
    expect(screen.getByRole('link', { name: 'Start again' }).getAttribute('href')).toBe('/account/sign-in');
    expect(document.title).toBe('This page has expired');
    expect(document.activeElement?.textContent).toBe('This page has expired');
  });

  it('starts again at the site that the server names, or that was asked for', async () => {
    const gone = {
      status: 400,
      body: { details: { applicationError: { code: 'INVALID_STATE_TOKEN', data: { clientId: 'c1' } } } },
    };
    openPage(FLOW, gone);
    expect((await screen.findByRole('link', { name: 'Start again' })).getAttribute('href')).toBe(
      '/account/sign-in?clientId=c1',
    );
    cleanup();
    openPage('/account/sign-up?clientId=c2&returnUrl=https%3A%2F%2Fapp.example%2F', refusal(429, 'THROTTLED_FEATURE'));
    expect((await screen.findByRole('link', { name: 'Start again' })).getAttribute('href')).toBe(
      '/account/sign-up?clientId=c2&returnUrl=https%3A%2F%2Fapp.example%2F',
    );
  });

  it('does not offer what would end on the same page again', async () => {
    openPage('/account/sign-in?clientId=none', refusal(404, 'CLIENT_NOT_FOUND'));
    await screen.findByText(en.problem.client);
    expect(screen.queryByRole('link')).toBeNull();
    cleanup();
    openPage(
      '/account/sign-in?clientId=c1&returnUrl=https%3A%2F%2Fevil.example%2F',
      refusal(400, 'REDIRECT_URI_NOT_ALLOWED'),
    );
    expect((await screen.findByRole('link', { name: 'Start again' })).getAttribute('href')).toBe(
      '/account/sign-in?clientId=c1',
    );
  });

  it('says what was refused at an address that the browser opened, and sends nothing', async () => {
    const { sent } = openPage('/account/error?code=INVALID_LINK&clientId=c1', signIn);
    await screen.findByText(en.problem.link);
    expect(screen.getByRole('link', { name: 'Start again' }).getAttribute('href')).toBe('/account/sign-in?clientId=c1');
    await expectAccessible();
    cleanup();
    openPage('/account/error?code=%3Cb%3Ehello', signIn);
    await screen.findByText(en.brokenText);
    expect(screen.getByRole('link', { name: 'Sign in' }).getAttribute('href')).toBe('/account/sign-in');
    await expectAccessible();
    cleanup();
    openPage('/account/error?code=CLIENT_NOT_FOUND', signIn);
    await screen.findByText(en.problem.client);
    expect(screen.queryByRole('link')).toBeNull();
    expect(sent).toEqual([]);
  });

  it("a refusal shows the server's sentence", async () => {
    openPage('/account/sign-in', refusal(400, 'ODD'));
    expect(await screen.findByText('The server says no.')).toBeTruthy();
  });

  it('a broken server is named with the reference, and can be asked again', async () => {
    const { user } = openPage(FLOW, { status: 500, body: '<html>' }, signIn);
    expect(await screen.findByText('Reference: r-1')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByRole('heading', { name: 'Sign in to Atlas' });
  });
});

describe('after the end', () => {
  it('leads to the site, and nowhere when its address is not known', async () => {
    openPage(FLOW, viewOf({ type: 'DONE', message: 'SIGNED_OUT' }));
    expect((await screen.findByRole('link', { name: 'Go to Atlas' })).getAttribute('href')).toBe(
      'https://atlas.example',
    );
    cleanup();
    openPage(FLOW, viewOf({ type: 'DONE', message: 'SIGNED_OUT' }, { homeUrl: null }));
    await screen.findByRole('heading', { name: 'You are signed out' });
    expect(screen.queryByRole('link')).toBeNull();
  });

  it('signs in at the same site with the new password', async () => {
    openPage(FLOW, viewOf({ type: 'DONE', message: 'PASSWORD_CHANGED' }, { kind: 'RECOVER' }));
    expect((await screen.findByRole('link', { name: 'Sign in' })).getAttribute('href')).toBe(
      '/account/sign-in?clientId=c1',
    );
  });

  it('a link that is over leads to the form for another, and says why', async () => {
    const view = viewOf({ type: 'RECOVER_REQUEST', email: null }, { kind: 'RECOVER' });
    const { sent } = openPage('/account/recover?over=link&clientId=c1', view);
    await screen.findByText(en.problem.link);
    expect(await screen.findByRole('button', { name: 'Send the link' })).toBeTruthy();
    expect(sent[0]?.body).toEqual({ kind: 'RECOVER', clientId: 'c1' });
    await expectAccessible();
  });
});

describe('languages', () => {
  it('changes at once, keeps what was typed, and turns the page around', async () => {
    const { user } = openPage(FLOW, signIn);
    await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'mara@example.org');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Language' }), 'he');
    await screen.findByRole('heading', { name: 'כניסה אל Atlas' });
    expect([document.documentElement.lang, document.documentElement.dir]).toEqual(['he', 'rtl']);
    expect(document.querySelector<HTMLInputElement>('input[name=email]')?.value).toBe('mara@example.org');
  });

  it("is the site's where the browser asks for none that there is", async () => {
    openPageUnasked(FLOW, { ...signIn, site: { ...signIn.site, language: 'de' } });
    await screen.findByRole('heading', { name: 'Bei Atlas anmelden' });
    expect(document.documentElement.lang).toBe('de');
  });
});
