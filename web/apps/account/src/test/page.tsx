/** Opens an account page in the test's document, with answers for its requests. */
import { render, screen, waitFor, within } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import axe from 'axe-core';
import { afterEach, expect, vi } from 'vitest';
import type { FlowInput, FlowView } from '@stoa/api';
import { App } from '../App.tsx';
import { loadCatalogue } from '../text/languages.ts';
import { loadOtherTexts } from '../text/later.ts';

const first = await loadCatalogue('en');
export const en = { ...first, ...(await loadOtherTexts('en')) };

export type Reply = FlowView | { status: number; body: unknown } | 'no answer' | 'never';
export interface Sent {
  method: string;
  path: string;
  body: unknown;
  /** The access token, where one goes with it. */
  token?: string;
  /** The language in which places are to be named, where it is said. */
  language?: string;
}

const CONNECTIONS = '/_api/identity/v1/connections';
let connections: Reply = { status: 200, body: { connections: [] } };

/** What is answered to the page that asks by which providers the member signs in, which is none of the replies in turn. */
export function answerConnections(reply: Reply): void {
  connections = reply;
}

afterEach(() => {
  connections = { status: 200, body: { connections: [] } };
});

/** Each request takes the next reply; the last one stays. */
export function openPage(address: string, ...replies: [Reply, ...Reply[]]) {
  return open(address, false, replies);
}

/** The same for a person whose browser asks for no language that there is. */
export function openPageUnasked(address: string, ...replies: [Reply, ...Reply[]]) {
  return open(address, true, replies);
}

function open(address: string, languageIsGuess: boolean, replies: [Reply, ...Reply[]]) {
  const sent: Sent[] = [];
  let idx = 0;
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    const method = init.method ?? 'GET';
    if (method === 'GET' && path.endsWith(CONNECTIONS)) return replied(connections);
    const reply = replies[Math.min(idx, replies.length - 1)] ?? 'no answer';
    idx += 1;
    const [token, language] = ['authorization', 'accept-language'].map((it) => new Headers(init.headers).get(it));
    sent.push({
      method,
      path,
      body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : null,
      ...(token ? { token } : {}),
      ...(language ? { language } : {}),
    });
    return replied(reply);
  });
  history.replaceState(null, '', address);
  render(<App language="en" catalogue={first} languageIsGuess={languageIsGuess} />);
  const inputs = () =>
    sent.filter((it) => it.method === 'POST' && it.path.includes('/flows/')).map((it) => it.body as FlowInput);
  return { sent, inputs, user: userEvent.setup() };
}

function replied(reply: Reply): Promise<Response> {
  if (reply === 'no answer') return Promise.reject(new TypeError('Failed to fetch'));
  if (reply === 'never') return new Promise<Response>(() => undefined);
  const [status, body] = 'status' in reply ? [reply.status, reply.body] : [200, reply];
  return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'x-wix-request-id': 'r-1' } }));
}

/** The button of an answer that is taken once the page was seen for a moment. */
export async function seenButton(name: string): Promise<HTMLElement> {
  const button = await screen.findByRole('button', { name });
  await waitFor(() => {
    expect(button.getAttribute('aria-disabled')).toBeNull();
  });
  return button;
}

/** The form that a button of its name leads to; its first field has the focus. */
export async function openForm(user: UserEvent, name: string) {
  await user.click(await screen.findByRole('button', { name }));
  const form = within(await screen.findByRole('form', { name }));
  await waitFor(() => {
    expect(document.activeElement).toBe(form.getAllByRole('textbox')[0]);
  });
  return form;
}

/** Colour needs a real browser and is checked there. */
export async function expectAccessible(): Promise<void> {
  const { violations } = await axe.run(document.body, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } },
  });
  expect(violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(' ')}`)).toEqual([]);
}
