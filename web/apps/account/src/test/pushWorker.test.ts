/** The worker that shows notifications, as the browser runs it. */
import { describe, expect, it, vi } from 'vitest';
import { loadPushTexts } from '../text/push.ts';
import source from '../../public/push.js?raw';

const SCOPE = 'https://stoa.example/s/s1/account/';

interface Shown {
  title: string;
  options: { body: string; lang: string; dir: string; tag: string; data: { token: string | null } };
}

interface Page {
  url: string;
  posted: unknown[];
  isFocused: boolean;
}

/** The worker of a site, with these pages open. @param languages of the browser */
function start(urls: string[] = [], languages = ['de-AT', 'en']) {
  const shown: Shown[] = [];
  const opened: string[] = [];
  const pages = urls.map((url): Page => ({ url, posted: [], isFocused: false }));
  const heard = new Map<string, (event: object) => void>();
  const clients = {
    claim: () => Promise.resolve(),
    matchAll: () =>
      Promise.resolve(
        pages.map((it) => ({
          url: it.url,
          postMessage: (message: unknown) => it.posted.push(message),
          focus: () => {
            it.isFocused = true;
            return Promise.resolve();
          },
        })),
      ),
    openWindow: (url: string) => Promise.resolve(opened.push(url)),
  };
  const worker = {
    addEventListener: (type: string, listener: (event: object) => void) => heard.set(type, listener),
    skipWaiting: vi.fn(() => Promise.resolve()),
    navigator: { languages },
    registration: {
      scope: SCOPE,
      showNotification: (title: string, options: Shown['options']) => Promise.resolve(shown.push({ title, options })),
    },
    clients,
  };
  (new Function('self', source) as (self: object) => void)(worker);
  const happen = async (type: string, event: object) => {
    const waited: Promise<unknown>[] = [];
    heard.get(type)?.({ ...event, waitUntil: (it: Promise<unknown>) => waited.push(it) });
    await Promise.all(waited);
  };
  return {
    shown,
    opened,
    pages,
    push: (data: unknown) =>
      happen('push', {
        data: { json: () => (typeof data === 'string' ? (JSON.parse(data) as unknown) : data) },
      }),
    click: async (data: unknown) => {
      const notification = { data, close: vi.fn() };
      await happen('notificationclick', { notification });
      expect(notification.close).toHaveBeenCalledOnce();
    },
  };
}

const TOKEN = 'abcdefghijklmnopqrstuvwxyz-_0123456789ABCDE';
const question = (more: object = {}) => ({
  kind: 'question',
  site: 'Atlas',
  token: TOKEN,
  expires: 1_767_355_320_000,
  locale: 'en',
  ...more,
});
const code = (more: object = {}) => ({ kind: 'code', site: 'Atlas', code: '123456', locale: 'en', ...more });

describe('the worker', () => {
  it('shows a question, and leads to its page behind #', async () => {
    const worker = start([`${SCOPE}password`]);
    await worker.push(question());
    expect(worker.shown).toEqual([
      {
        title: 'Is it you who signs in to Atlas?',
        options: {
          body: 'Open this to answer. If it is not you, deny it.',
          lang: 'en',
          dir: 'ltr',
          tag: 'stoa-question',
          renotify: true,
          requireInteraction: true,
          data: { token: TOKEN },
        },
      },
    ]);
    expect(worker.pages[0]?.posted).toEqual([]);
    await worker.click(worker.shown[0]?.options.data);
    expect(worker.opened).toEqual([`${SCOPE}push#${TOKEN}`]);
  });

  it('shows a code, hands it to the pages of its site alone, and leads to the one that waits', async () => {
    const worker = start([`${SCOPE}password`, 'https://stoa.example/s/s2/account/password', 'https://stoa.example/']);
    await worker.push(code());
    expect(worker.shown[0]?.title).toBe('Your code for Atlas: 123456');
    expect(worker.pages.map((it) => it.posted)).toEqual([[{ kind: 'code', code: '123456' }], [], []]);
    await worker.click(worker.shown[0]?.options.data);
    expect([worker.pages[0]?.isFocused, worker.opened]).toEqual([true, []]);
    const alone = start();
    await alone.click({ token: null });
    expect(alone.opened).toEqual([`${SCOPE}password`]);
  });

  it.each(['en', 'de', 'fr', 'es', 'ja', 'ar', 'he'])('speaks %s as the page does', async (locale) => {
    const worker = start();
    await worker.push(question({ locale }));
    await worker.push(code({ locale }));
    await worker.push(question({ locale, for: 'CHANGE' }));
    const texts = await loadPushTexts(locale);
    expect(worker.shown[0]?.title).toBe(texts.askTitle({ site: 'Atlas' }));
    expect(worker.shown[1]?.title).toMatch(/Atlas.*123456/);
    expect(worker.shown[2]?.title).toBe(texts.change.askTitle({ site: 'Atlas' }));
    expect(worker.shown[0]?.options.dir).toBe(['ar', 'he'].includes(locale) ? 'rtl' : 'ltr');
  });

  it('speaks the language of the browser where it does not know that of the message', async () => {
    const worker = start();
    for (const locale of ['xx', undefined, 'constructor']) await worker.push(question({ locale }));
    expect(worker.shown.map((it) => it.options.lang)).toEqual(['de', 'de', 'de']);
    const other = start([], ['xx']);
    await other.push(question({ locale: 'FR-ca' }));
    await other.push(question({ locale: 'xx' }));
    expect(other.shown.map((it) => it.options.lang)).toEqual(['fr', 'en']);
  });

  it('takes the name of a site as it is', async () => {
    const worker = start();
    await worker.push(code({ site: '$& {code} {site}' }));
    expect(worker.shown[0]?.title).toContain('$& ');
  });

  it.each([
    'not JSON',
    'null',
    '[]',
    question({ kind: 'other' }),
    question({ token: 'a/b' }),
    question({ token: undefined }),
    question({ site: 7 }),
    code({ code: '12345' }),
  ])('shows nothing of what was not agreed: %j', async (data) => {
    const worker = start([`${SCOPE}password`]);
    await worker.push(data);
    expect([worker.shown, worker.pages[0]?.posted]).toEqual([[], []]);
  });
});
