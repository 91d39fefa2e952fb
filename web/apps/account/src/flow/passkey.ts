/** Asks the browser for a passkey. The options come from the server as JSON, bare or inside `publicKey`. */
import {
  browserSupportsWebAuthn,
  startAuthentication,
  startRegistration,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';

export type PasskeyAnswer = { credential: string } | { stopped: 'missing' | 'refused' };

export function passkeyGet(optionsJson: string): Promise<PasskeyAnswer> {
  return ask(() =>
    startAuthentication({ optionsJSON: optionsOf(optionsJson) as PublicKeyCredentialRequestOptionsJSON }),
  );
}

export function passkeyCreate(optionsJson: string): Promise<PasskeyAnswer> {
  return ask(() =>
    startRegistration({ optionsJSON: optionsOf(optionsJson) as PublicKeyCredentialCreationOptionsJSON }),
  );
}

function optionsOf(json: string): unknown {
  const options = JSON.parse(json) as unknown;
  return typeof options === 'object' && options !== null && 'publicKey' in options ? options.publicKey : options;
}

async function ask(start: () => Promise<unknown>): Promise<PasskeyAnswer> {
  if (!browserSupportsWebAuthn()) return { stopped: 'missing' };
  try {
    return { credential: JSON.stringify(await start()) };
  } catch {
    return { stopped: 'refused' };
  }
}
