import { afterEach, describe, expect, test, vi } from 'vitest';

import { serveStreams, streamPath, until } from './streams.ts';
import { change, holdTimers, isStatus, listen, visit } from './visits.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('in a window', () => {
  /** A window whose connection and visibility the test changes. */
  function openWindow() {
    const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    const window = new EventTarget();
    vi.stubGlobal('window', window);
    vi.stubGlobal('document', page);
    vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
    vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window));
    const look = (visibilityState: string) => {
      page.visibilityState = visibilityState;
      page.dispatchEvent(new Event('visibilitychange'));
    };
    return { look, tell: (name: string) => window.dispatchEvent(new Event(name)) };
  }

  test('offline it waits; online it is there at once', async () => {
    const { tell } = openWindow();
    const world = await serveStreams();
    holdTimers();
    const { subscription } = listen(world);
    vi.advanceTimersByTime(10);
    const first = await world.stream(0);
    first.ready([], 't1');
    await isStatus(subscription, 'live');
    tell('offline');
    expect(subscription.status).toBe('waiting');
    await until(() => expect(first.isClosed).toBe(true));
    tell('online');
    vi.advanceTimersByTime(0);
    expect((await world.stream(1)).subscriptions).toMatchObject([{ resume: 't1' }]);
    await isStatus(subscription, 'live');
  });

  test('a page that nobody looks at lets go of its connection after a minute, and takes it up where it was', async () => {
    const { look } = openWindow();
    const world = await serveStreams();
    holdTimers();
    const { subscription } = listen(world);
    vi.advanceTimersByTime(10);
    const first = await world.stream(0);
    first.ready([], 't1');
    await isStatus(subscription, 'live');
    look('hidden');
    vi.advanceTimersByTime(30_000);
    look('visible');
    first.send('change', change('s1', 'enter', visit('a', '1')), 't2');
    await until(() => expect(subscription.items).toHaveLength(1));
    expect(world.streams).toHaveLength(1);
    look('hidden');
    vi.advanceTimersByTime(30_000);
    first.send('change', change('s1', 'enter', visit('b', '2')), 't3');
    await until(() => expect(subscription.items).toHaveLength(2));
    vi.advanceTimersByTime(30_000);
    await until(() => expect(first.isClosed).toBe(true));
    expect(subscription.status).toBe('waiting');
    const another = world.stoa.items.query('cars').subscribe();
    vi.advanceTimersByTime(600_000);
    expect(another.status).toBe('waiting');
    expect(world.server.to(streamPath)).toHaveLength(1);
    look('visible');
    vi.advanceTimersByTime(0);
    expect((await world.stream(1)).subscriptions).toMatchObject([{ resume: 't3' }, { snapshot: true }]);
  });
});
