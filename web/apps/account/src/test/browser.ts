/** A browser that has passkeys, and whose person is the test. */
import { act } from '@testing-library/react';
import { afterEach, expect, vi } from 'vitest';

export interface Question {
  kind: 'create' | 'get';
  /** What the page asked, as it went to the browser. */
  options: CredentialCreationOptions & CredentialRequestOptions;
  isOver: () => boolean;
  /** The person uses a passkey, or the browser says why there is none. */
  answer: (it: object | DOMException | null) => Promise<void>;
}

/** Each question to it, the last one last. @param inField whether it offers passkeys at the field of the address */
export function withPasskeys({ inField = false } = {}): Question[] {
  const asked: Question[] = [];
  const ask = (kind: Question['kind']) => (options: Question['options']) => {
    let isOver = false;
    return new Promise((resolve, reject) => {
      options.signal?.addEventListener('abort', () => {
        isOver = true;
        reject(new DOMException('ended', 'AbortError'));
      });
      const answer: Question['answer'] = async (it) => {
        isOver = true;
        await act(async () => {
          if (it instanceof DOMException) reject(it);
          else resolve(it);
          await Promise.resolve();
        });
      };
      asked.push({ kind, options, isOver: () => isOver, answer });
    });
  };
  const isConditionalMediationAvailable = () => Promise.resolve(inField);
  vi.stubGlobal(
    'PublicKeyCredential',
    Object.assign(() => undefined, { isConditionalMediationAvailable }),
  );
  const value = { create: ask('create'), get: ask('get') };
  Object.defineProperty(navigator, 'credentials', { configurable: true, value });
  return asked;
}

afterEach(() => {
  Reflect.deleteProperty(navigator, 'credentials');
  Reflect.deleteProperty(navigator, 'serviceWorker');
});

/** What a browser's service for notifications gave. */
export const SUBSCRIPTION = { endpoint: 'https://push.example/1', keys: { p256dh: 'BPub', auth: 'c2VjcmV0' } };

/**
 * A browser that has notifications: what it was asked, and what a worker posts to its pages.
 * @param permission what the person says when they are asked
 * @param outcomes what comes of each subscription, the last one for all further; a refusal by its name
 */
export function withPush(permission: NotificationPermission = 'granted', ...outcomes: (string | null)[]) {
  const asked: unknown[] = [];
  const container = new EventTarget();
  const old = { unsubscribe: () => Promise.resolve(asked.push('unsubscribe')) };
  const pushManager = {
    subscribe: (options: object) => {
      asked.push(options);
      const why = (outcomes.length > 1 ? outcomes.shift() : outcomes[0]) ?? null;
      if (why !== null) return Promise.reject(refusal(why));
      return Promise.resolve({ toJSON: () => ({ ...SUBSCRIPTION, expirationTime: null }) });
    },
    getSubscription: () => Promise.resolve(old),
  };
  const register = (script: string, options: object) => {
    asked.push([script, options]);
    return Promise.resolve({ active: {}, installing: null, waiting: null, pushManager });
  };
  const requestPermission = () => {
    asked.push('permission');
    return Promise.resolve(permission);
  };
  vi.stubGlobal('PushManager', () => undefined);
  vi.stubGlobal('Notification', { permission: 'default', requestPermission });
  Object.defineProperty(navigator, 'serviceWorker', {
    configurable: true,
    value: Object.assign(container, { register }),
  });
  const post = (data: unknown) =>
    act(async () => {
      container.dispatchEvent(new MessageEvent('message', { data }));
      await Promise.resolve();
    });
  return { asked, post };
}

/** The question that waits, which is the last one. */
export async function question(asked: readonly Question[], count = asked.length + 1): Promise<Question> {
  const found = await vi.waitUntil(() => (asked.length === count ? asked.at(-1) : undefined), { timeout: 5000 });
  expect(found.isOver()).toBe(false);
  return found;
}

export const refusal = (name: string) => new DOMException('no', name);

const bytes = (...values: number[]) => Uint8Array.of(...values).buffer;

const COMMON = { id: 'ignored', rawId: bytes(255, 254), type: 'public-key', authenticatorAttachment: 'platform' };

/** What a browser gives for a passkey that was used, and its JSON. */
export const USED = {
  ...COMMON,
  response: {
    clientDataJSON: bytes(1),
    authenticatorData: bytes(2, 2),
    signature: bytes(3, 3, 3),
    userHandle: bytes(251, 255),
  },
};
const JSON_COMMON = {
  id: '__4',
  rawId: '__4',
  type: 'public-key',
  authenticatorAttachment: 'platform',
  clientExtensionResults: {},
};
export const USED_JSON = {
  ...JSON_COMMON,
  response: { clientDataJSON: 'AQ', authenticatorData: 'AgI', signature: 'AwMD', userHandle: '-_8' },
};

/** The same of one that was made. */
export const MADE = {
  ...COMMON,
  response: { clientDataJSON: bytes(1), attestationObject: bytes(4), getTransports: () => ['internal', 'hybrid'] },
};
export const MADE_JSON = {
  ...JSON_COMMON,
  response: { clientDataJSON: 'AQ', attestationObject: 'BA', transports: ['internal', 'hybrid'] },
};
