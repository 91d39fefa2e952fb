/** Notifications of this browser: its permission, its service, and the codes that the worker hands on. */
import { useEffect, useEffectEvent } from 'react';

/** Why a browser gets no notifications. */
export type Why =
  | 'unsupported'
  /** The person or the browser has refused, for good. */
  | 'blocked'
  /** The question was closed without an answer. */
  | 'dismissed'
  /** The browser's service for notifications doesn't answer. */
  | 'unreachable'
  | 'failed';

export type Subscribed = { subscription: { endpoint: string; keys: { p256dh: string; auth: string } } } | { why: Why };

export const hasPush = (): boolean =>
  'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

/**
 * Has the browser ask for permission and get an address at its service. Called while a press is handled: browsers ask the person at no
 * other time.
 * @param key the site's public key, by which the service knows who may send
 * @param home where the account pages of the site are, with a slash at the end; a site has a worker of its own there, because a worker
 *   has one address, for one key
 */
export async function subscribe(key: string, home: string): Promise<Subscribed> {
  if (!hasPush()) return { why: 'unsupported' };
  try {
    const permission = await Notification.requestPermission();
    if (permission !== 'granted') return { why: permission === 'denied' ? 'blocked' : 'dismissed' };
    const registration = await navigator.serviceWorker.register(`${home}push.js`, { scope: home });
    await activated(registration);
    listen();
    const { endpoint, keys } = (await subscriptionBy(registration.pushManager, key)).toJSON();
    const [p256dh, auth] = [keys?.['p256dh'], keys?.['auth']];
    if (endpoint === undefined || p256dh === undefined || auth === undefined) return { why: 'failed' };
    return { subscription: { endpoint, keys: { p256dh, auth } } };
  } catch (error) {
    return { why: whyOf(error) };
  }
}

async function subscriptionBy(manager: PushManager, applicationServerKey: string): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey };
  try {
    return await manager.subscribe(options);
  } catch (error) {
    // The site had another key before.
    const old = nameOf(error) === 'InvalidStateError' ? await manager.getSubscription() : null;
    if (old === null) throw error;
    await old.unsubscribe();
    return manager.subscribe(options);
  }
}

/** A worker is asked for an address once it is active. */
function activated({ active, installing, waiting }: ServiceWorkerRegistration): Promise<void> {
  if (active !== null) return Promise.resolve();
  const worker = installing ?? waiting;
  return new Promise((resolve, reject) => {
    const look = () => {
      if (worker?.state === 'activated') resolve();
      else if (worker === null || worker.state === 'redundant') reject(new Error('the worker did not start'));
    };
    worker?.addEventListener('statechange', look);
    look();
  });
}

const nameOf = (error: unknown): string => (error instanceof DOMException ? error.name : '');

function whyOf(error: unknown): Why {
  switch (nameOf(error)) {
    case 'NotAllowedError':
      return 'blocked';
    case 'NotSupportedError':
      return 'unsupported';
    case 'AbortError':
      return 'unreachable';
    default:
      return 'failed';
  }
}

/** The last code that the worker has handed on, until a page takes it: it may arrive before the answer to the request. */
let arrived: string | null = null;
let heard: ServiceWorkerContainer | null = null;
const takers = new Set<(code: string) => void>();

function listen(): void {
  arrived = null;
  if (heard === navigator.serviceWorker) return;
  heard = navigator.serviceWorker;
  heard.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const code = typeof data === 'object' && data !== null && 'code' in data ? data.code : null;
    if (typeof code !== 'string' || !/^\d{6}$/.test(code)) return;
    arrived = code;
    tell();
  });
}

/** Hands the code to the page that waits for one. */
function tell(): void {
  for (const take of takers) {
    const code = arrived;
    arrived = null;
    if (code !== null) take(code);
  }
}

/** Takes the code of a notification to this browser. */
export function useArrivedCode(isWaiting: boolean, onCode: (code: string) => void): void {
  const take = useEffectEvent(onCode);
  useEffect(() => {
    if (!isWaiting) return;
    const taker = (code: string) => {
      take(code);
    };
    takers.add(taker);
    tell();
    return () => {
      takers.delete(taker);
    };
  }, [isWaiting]);
}
