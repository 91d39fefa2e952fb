import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FlowInput } from '@stoa/api';
import { solve, zeroBits } from '../api/captcha.ts';
import { answerFlow } from '../api/flow.ts';
import { viewOf } from './views.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('captcha', () => {
  it('counts zero bits as the server does', () => {
    expect([[0x2c], [0x0b], [0, 0x80], [0, 0, 1], [0, 0]].map((it) => zeroBits(new Uint8Array(it)))).toEqual([
      2, 4, 8, 23, 16,
    ]);
  });

  it('finds a number that makes the hash small', async () => {
    const answer = await solve('a.b.c', 10);
    expect(answer).toMatch(/^a\.b\.c~\d+$/);
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(answer));
    expect(zeroBits(new Uint8Array(hash))).toBeGreaterThanOrEqual(10);
  });

  it('answers when the server asks for it, and only then', async () => {
    const signIn = viewOf({
      type: 'SIGN_IN',
      email: null,
      canSignUp: true,
      canRecover: true,
      passkey: null,
      providers: [],
    });
    const asks = { ...signIn, problems: [{ field: null, code: '-19971', message: 'captcha' }] };
    const sent: unknown[] = [];
    const reply = (json: unknown) => new Response(JSON.stringify(json), { status: 200 });
    vi.stubGlobal(
      'fetch',
      vi.fn((path: string, init?: RequestInit) => {
        sent.push(init?.body === undefined ? path : JSON.parse(init.body as string));
        if (path.endsWith('/captcha')) return Promise.resolve(reply({ challenge: 'c', bits: 4 }));
        return Promise.resolve(reply((init?.body as string).includes('"captcha":null') ? asks : signIn));
      }),
    );
    const input: FlowInput = { type: 'SIGN_IN', email: 'mara@example.org', password: 'x', captcha: null };
    expect(await answerFlow('t', input)).toEqual({ value: signIn });
    expect(sent).toEqual([
      input,
      '/s/s1/_api/account/v1/captcha',
      { ...input, captcha: expect.stringMatching(/^c~\d+$/) as string },
    ]);
    sent.length = 0;
    await answerFlow('t', { type: 'RESEND' });
    expect(sent).toEqual([{ type: 'RESEND' }]);
  });
});
