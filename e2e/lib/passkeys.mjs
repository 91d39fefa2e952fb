// A device that keeps passkeys, as the browser's own tools have it: it needs no person.

/** @import { Page } from 'playwright-core' */
/** @import { World } from './run-tests.mjs' */

/** @typedef {{ credentialId: string, isResidentCredential: boolean, rpId?: string, privateKey: string, signCount: number }[]} Passkeys what a device keeps, with the secrets */

/**
 * Gives a page a device. Where one has a passkey and the page asks for one at a field, the browser takes it at once.
 * @param {Page} page
 * @param {Passkeys} [passkeys] of another device, which is not used any more: their counters go on here
 */
export async function deviceOf(page, passkeys = []) {
  const tools = await page.context().newCDPSession(page);
  await tools.send('WebAuthn.enable');
  const { authenticatorId } = await tools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  /** The device has these from now on, as they count now. @param {Passkeys} kept */
  const keeps = async (kept) => {
    await tools.send('WebAuthn.clearCredentials', { authenticatorId });
    for (const credential of kept) await tools.send('WebAuthn.addCredential', { authenticatorId, credential });
  };
  await keeps(passkeys);
  return {
    passkeys: async () => (await tools.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    keeps,
    /** Whether the device recognises the person. @param {boolean} isUserVerified */
    recognises: (isUserVerified) => tools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  };
}

/**
 * Another browser that has these passkeys: what they are afterwards, since they count.
 * @param {Pick<World, 'browser'>} world @param {Passkeys} passkeys
 * @param {Parameters<World['browser']['visit']>[0]} look @param {(page: Page) => Promise<void>} work
 */
export async function elsewhere({ browser }, passkeys, look, work) {
  return browser.visit(look, async (page) => {
    const device = await deviceOf(page, passkeys);
    await work(page);
    return device.passkeys();
  });
}

/** The browser offers no passkeys at fields, so that only what is pressed asks for one. @param {Page} page */
export const onlyByButton = (page) =>
  page.addInitScript(() => {
    if ('PublicKeyCredential' in window)
      PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);
  });

/** The browser has none. @param {Page} page */
export const withoutPasskeys = (page) =>
  page.addInitScript(() => {
    Reflect.deleteProperty(window, 'PublicKeyCredential');
  });

/** An address of this machine at which browsers have passkeys: they have none for a number. @param {string} url */
export const named = (url) => url.replace('//127.0.0.1', '//localhost');
