/** The widget of a captcha provider, whose script is this test: it gives the calls and says when they are there. */
import { act, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { expectAccessible, openPage, type Reply } from './page.tsx';
import { viewOf } from './views.ts';

const FLOW = '/account/flow/aaaa';
const signIn = viewOf({
  type: 'SIGN_IN',
  email: null,
  canSignUp: true,
  canRecover: true,
  passkey: null,
  providers: [],
});
const missing = { ...signIn, problems: [{ field: null, code: '-19971', message: 'captcha' }] };
const wrong = { ...signIn, problems: [{ field: null, code: '-19976', message: 'wrong' }] };
const done = viewOf({ type: 'DONE', message: 'SIGNED_IN' });

interface Options {
  sitekey: string;
  callback: (token: string) => void;
  'expired-callback': () => void;
  'error-callback': () => unknown;
  [more: string]: unknown;
}

let count = 0;
/** Each test has a script of its own: a page loads each once. */
function captcha(widget: string | null, keys: { visible?: string; invisible?: string }): [Reply, string] {
  count += 1;
  const scriptUrl = widget === null ? null : `https://captcha${count}.example/api.js`;
  const body = {
    kind: 'PROVIDER',
    visibleSiteKey: keys.visible ?? null,
    invisibleSiteKey: keys.invisible ?? null,
    widget,
    scriptUrl,
  };
  return [{ status: 200, body }, scriptUrl ?? ''];
}

const scripts = (url: string) =>
  [...document.querySelectorAll<HTMLScriptElement>('head script')].filter((it) => it.src.startsWith(url));

async function script(url: string) {
  return waitFor(() => {
    const [found] = scripts(url);
    expect(found).toBeTruthy();
    return found as HTMLScriptElement;
  });
}

/** What the script does once it has arrived. */
function arrive(name: string, calls: object) {
  vi.stubGlobal(name, calls);
  act(() => {
    (window as unknown as { stoaWidgetReady: () => void }).stoaWidgetReady();
  });
}

function provider() {
  const drawn: Options[] = [];
  const calls = {
    render: vi.fn((place: HTMLElement, options: Options) => {
      place.textContent = 'a checkbox';
      drawn.push(options);
      return drawn.length;
    }),
    reset: vi.fn(),
    remove: vi.fn(),
    execute: vi.fn(),
  };
  return { drawn, calls };
}

async function sendForm(user: ReturnType<typeof openPage>['user']) {
  await user.type(await screen.findByRole('textbox', { name: 'Email' }), 'mara@example.org');
  await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
}

const group = () => screen.findByRole('group', { name: 'Please show that you are a person' });

/** The page's policy refuses something, as the browser tells it. */
function refuse(effectiveDirective: string, blockedURI: string) {
  act(() => {
    document.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), { effectiveDirective, blockedURI }));
  });
}

afterEach(() => {
  sessionStorage.clear();
  for (const it of document.querySelectorAll('head script')) it.remove();
});

describe('a widget that is seen', () => {
  it('stands in the form once the server asks, and sends its answer', async () => {
    const [asked, url] = captcha('OTHER', { visible: 'key-v', invisible: 'key-i' });
    const { user, sent, inputs } = openPage(FLOW, signIn, missing, asked, done);
    await screen.findByRole('textbox', { name: 'Email' });
    expect(document.querySelectorAll('head script').length, 'nothing is loaded before').toBe(0);
    await sendForm(user);
    const { src } = await script(url);
    expect(Object.fromEntries(new URL(src).searchParams)).toEqual({
      onload: 'stoaWidgetReady',
      render: 'explicit',
      hl: 'en',
    });
    expect(sent[2]?.path).toBe('/s/s1/_api/account/v1/captcha');
    expect(screen.queryByRole('alert'), 'nothing is wrong yet').toBeNull();
    const { drawn, calls } = provider();
    arrive('grecaptcha', calls);
    await screen.findByText('a checkbox');
    expect(drawn[0]).toMatchObject({ sitekey: 'key-v', theme: 'light', size: 'normal' });
    const place = await group();
    await waitFor(() => {
      expect(document.activeElement).toBe(place);
    });
    expect(screen.getByText(/^Answer the check by captcha\d+\.example\./)).toBeTruthy();
    await expectAccessible();

    // Sending without an answer leads to the question.
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect(document.activeElement).toBe(place);
    expect(inputs()).toHaveLength(1);
    // What was typed meanwhile counts.
    await user.type(screen.getByLabelText('Password'), ' word');
    act(() => {
      drawn[0]?.callback('the token');
    });
    await screen.findByRole('heading', { name: 'You are signed in' });
    const base = { type: 'SIGN_IN', email: 'mara@example.org' };
    expect(inputs()).toEqual([
      { ...base, password: 'secret', captcha: null },
      { ...base, password: 'secret word', captcha: 'the token' },
    ]);
    expect(calls.remove).toHaveBeenCalledWith(1);
  });

  it('asks again for the next try, and when an answer expires', async () => {
    const [asked, url] = captcha('HCAPTCHA', { visible: 'key-v' });
    const { user, inputs } = openPage(FLOW, signIn, missing, asked, wrong, missing, asked, done);
    await sendForm(user);
    const { src } = await script(url);
    expect(new URL(src).searchParams.get('recaptchacompat')).toBe('off');
    const { drawn, calls } = provider();
    arrive('hcaptcha', calls);
    await screen.findByText('a checkbox');
    act(() => {
      drawn[0]?.callback('first');
    });
    await screen.findByText('The email or password does not match.');
    expect(calls.remove).toHaveBeenCalledTimes(1);
    expect(screen.queryByText('a checkbox')).toBeNull();

    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByText('a checkbox');
    expect(scripts(url), 'the script is there').toHaveLength(1);
    act(() => {
      drawn[1]?.['expired-callback']();
    });
    expect((await screen.findByText('The answer has expired. Please answer again.')).getAttribute('role')).toBe(
      'status',
    );
    act(() => {
      drawn[1]?.callback('second');
    });
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(inputs().map((it) => ('captcha' in it ? it.captcha : '?'))).toEqual([null, 'first', null, 'second']);
  });

  it('says when the script is blocked, and tries again', async () => {
    const [asked, url] = captcha('TURNSTILE', { visible: 'key-v' });
    const { user, inputs } = openPage(FLOW, signIn, missing, asked, done);
    await sendForm(user);
    (await script(url)).dispatchEvent(new Event('error'));
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toContain('could not be loaded');
    const place = await group();
    await waitFor(() => {
      expect(document.activeElement).toBe(place);
    });
    await expectAccessible();
    expect(screen.getByLabelText<HTMLInputElement>('Password').value).toBe('secret');
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    await script(url);
    const { drawn, calls } = provider();
    arrive('turnstile', calls);
    await screen.findByText('a checkbox');
    expect(drawn[0]).toMatchObject({ sitekey: 'key-v', language: 'en', appearance: 'always' });
    expect(screen.queryByRole('alert')).toBeNull();

    // The provider gives up: pressing the form's own button is a way on as well.
    act(() => {
      expect(drawn[0]?.['error-callback']()).toBe(true);
    });
    expect((await screen.findByRole('alert')).textContent).toContain('The check did not work.');
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    await waitFor(() => {
      expect(drawn).toHaveLength(2);
    });
    act(() => {
      drawn[1]?.callback('token');
    });
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(inputs()).toHaveLength(2);
  });

  it('works on when the policy refuses other things of its origin', async () => {
    const [asked, url] = captcha('OTHER', { visible: 'key-v' });
    const { user } = openPage(FLOW, signIn, missing, asked, done);
    await sendForm(user);
    await script(url);
    refuse('img-src', new URL('picture.png', url).href);
    refuse('script-src-elem', new URL('another.js', url).href);
    refuse('connect-src', `${url}?x`);
    refuse('script-src', 'eval');
    const { drawn, calls } = provider();
    arrive('grecaptcha', calls);
    await screen.findByText('a checkbox');
    expect(screen.queryByRole('alert')).toBeNull();
    act(() => {
      drawn[0]?.callback('token');
    });
    await screen.findByRole('heading', { name: 'You are signed in' });
  });

  it('reloads the page when the policy refuses its script', async () => {
    const [asked, url] = captcha('OTHER', { visible: 'key-v' });
    const { user } = openPage(FLOW, signIn, missing, asked);
    await sendForm(user);
    refuse('script-src-elem', (await script(url)).src);
    await screen.findByRole('alert');
    expect(sessionStorage.getItem('stoa.account.fresh'), 'nothing happens by itself').toBeNull();
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(sessionStorage.getItem('stoa.account.fresh')).toBe(url);
    expect(scripts(url), 'the page that is going asks for nothing').toHaveLength(0);
  });

  it('does not reload the page again and again when the policy refuses its script', async () => {
    const [asked, url] = captcha('OTHER', { visible: 'key-v' });
    const { user } = openPage(FLOW, signIn, missing, asked, done);
    await sendForm(user);
    // As the reloaded page finds it.
    sessionStorage.setItem('stoa.account.fresh', url);
    const { src } = await script(url);
    refuse('script-src-elem', src);
    await screen.findByRole('alert');
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    // The same page asks for the script once more.
    await script(url);
    const { calls } = provider();
    arrive('grecaptcha', calls);
    await screen.findByText('a checkbox');
    expect(sessionStorage.getItem('stoa.account.fresh'), 'it works now').toBeNull();
  });

  it('keeps an answer for which the form was not complete', async () => {
    const [asked, url] = captcha('TURNSTILE', { visible: 'key-v' });
    const { user, inputs } = openPage(FLOW, signIn, missing, asked, done);
    await sendForm(user);
    await script(url);
    const { drawn, calls } = provider();
    arrive('turnstile', calls);
    await screen.findByText('a checkbox');
    expect(drawn[0]).toMatchObject({ 'refresh-expired': 'manual', 'refresh-timeout': 'manual', retry: 'never' });
    const password = screen.getByLabelText('Password');
    await user.clear(password);
    act(() => {
      drawn[0]?.callback('early');
    });
    await waitFor(() => {
      expect(document.activeElement).toBe(password);
    });
    expect(screen.queryByText(/Going on/)).toBeNull();
    // What the widget says again by itself sends nothing that is half typed.
    await user.type(password, 'half');
    act(() => {
      drawn[0]?.callback('by itself');
    });
    expect(inputs()).toHaveLength(1);
    await user.type(password, ' and half{Enter}');
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(inputs()[1]).toMatchObject({ password: 'half and half', captcha: 'early' });
  });

  it('asks again when an answer that was kept has expired', async () => {
    const [asked, url] = captcha('RECAPTCHA', { visible: 'key-v' });
    const { user, inputs } = openPage(FLOW, signIn, missing, asked, done);
    await sendForm(user);
    await script(url);
    const { drawn, calls } = provider();
    arrive('grecaptcha', calls);
    await screen.findByText('a checkbox');
    const password = screen.getByLabelText('Password');
    await user.clear(password);
    act(() => {
      drawn[0]?.callback('early');
    });
    act(() => {
      drawn[0]?.['expired-callback']();
    });
    await screen.findByText('The answer has expired. Please answer again.');
    await user.type(password, 'secret{Enter}');
    await waitFor(() => {
      expect(drawn).toHaveLength(2);
    });
    expect(inputs(), 'nothing was sent with it').toHaveLength(1);
    act(() => {
      drawn[1]?.callback('second');
    });
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(inputs()[1]).toMatchObject({ captcha: 'second' });
  });

  it('goes on with the form when the answer could not be sent', async () => {
    const [asked, url] = captcha('RECAPTCHA', { visible: 'key-v' });
    const { user } = openPage(FLOW, signIn, missing, asked, 'no answer', missing, asked, done);
    await sendForm(user);
    await script(url);
    const { drawn, calls } = provider();
    arrive('grecaptcha', calls);
    await screen.findByText('a checkbox');
    act(() => {
      drawn[0]?.callback('lost');
    });
    expect((await screen.findByRole('alert')).textContent).toContain('No connection');
    expect(screen.queryByText('a checkbox')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByText('a checkbox');
    act(() => {
      drawn[1]?.callback('another');
    });
    await screen.findByRole('heading', { name: 'You are signed in' });
  });
});

describe('a widget that is not seen', () => {
  it.each([
    ['RECAPTCHA', 'grecaptcha'],
    ['HCAPTCHA', 'hcaptcha'],
  ])('of %s is asked by the page', async (widget, name) => {
    const [asked, url] = captcha(widget, { invisible: 'key-i' });
    const { user, inputs } = openPage(FLOW, signIn, missing, asked, done);
    await sendForm(user);
    await script(url);
    const { drawn, calls } = provider();
    arrive(name, calls);
    await screen.findByText('Checking…');
    expect(drawn[0]).toMatchObject({ sitekey: 'key-i', size: 'invisible' });
    expect(calls.execute).toHaveBeenCalledTimes(1);
    await user.click(screen.getByRole('button', { name: 'Sign in' }));
    expect(calls.execute, 'asked once more').toHaveBeenCalledTimes(2);
    act(() => {
      drawn[0]?.callback('unseen');
    });
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(inputs()[1]).toMatchObject({ captcha: 'unseen' });
  });

  it('of reCAPTCHA v3 is asked by its key', async () => {
    const [asked, url] = captcha('RECAPTCHA_SCORE', { visible: 'key-v', invisible: 'key-i' });
    const { user, inputs } = openPage(FLOW, signIn, missing, asked, done);
    await sendForm(user);
    const { src } = await script(url);
    expect(new URL(src).searchParams.get('render')).toBe('key-i');
    const { calls } = provider();
    calls.execute.mockResolvedValue('scored');
    arrive('grecaptcha', calls);
    await screen.findByRole('heading', { name: 'You are signed in' });
    expect(calls.execute).toHaveBeenCalledWith('key-i', { action: 'account' });
    expect(inputs()[1]).toMatchObject({ captcha: 'scored' });
  });

  it('of Turnstile begins by itself', async () => {
    const [asked, url] = captcha('TURNSTILE', { invisible: 'key-i' });
    const { user } = openPage(FLOW, signIn, missing, asked, done);
    await sendForm(user);
    await script(url);
    const { drawn, calls } = provider();
    arrive('turnstile', calls);
    await screen.findByText('Checking…');
    expect(drawn[0]).toMatchObject({ sitekey: 'key-i', appearance: 'interaction-only' });
    expect(calls.execute).not.toHaveBeenCalled();
    act(() => {
      drawn[0]?.callback('token');
    });
    await screen.findByRole('heading', { name: 'You are signed in' });
  });
});

it('a provider whose widget is not known here is named as what is in the way', async () => {
  const [asked] = captcha(null, { visible: 'key-v' });
  const { user } = openPage(FLOW, signIn, missing, asked);
  await sendForm(user);
  expect((await screen.findByRole('alert')).textContent).toContain('a check that this page cannot show');
  expect(document.querySelectorAll('head script').length).toBe(0);
});
