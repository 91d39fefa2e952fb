/**
 * Passkeys of this browser (W3C Web Authentication, level 3): made, and asked for. Options come and answers go as the JSON
 * texts of that standard, in which bytes are base64url. Nothing here asks the server, and nothing here judges an answer.
 */

/** Why there is no answer of a passkey. */
export type Why =
  /** The browser has no passkeys, or the page is not open over a secure connection. */
  | 'unsupported'
  /** The prompt was closed, or no passkey fits. Browsers don't tell these apart, so that pages learn nothing of them. */
  | 'cancelled'
  | 'timeout'
  /** One that is to be made is on this device already. */
  | 'known'
  /** The browser refused the address of this page. */
  | 'address'
  /** The page itself has ended the question. */
  | 'ended'
  | 'failed';

/** The JSON text of what the passkey said, or why there is none. */
export type Outcome = { credential: string } | { why: Why };

/** Options of a question, as JSON or its text. */
type Json = string | object;

/** Extensions with bytes are not asked for. */
type Plain<Options> = Omit<Options, 'extensions'>;

interface Ending {
  /** Ends the question. */
  signal?: AbortSignal;
}

export const hasPasskeys = (): boolean => typeof PublicKeyCredential === 'function';

/** Whether the browser offers passkeys where the person types the address. */
export async function offersInField(): Promise<boolean> {
  try {
    return hasPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable());
  } catch {
    // An older browser has no such call.
    return false;
  }
}

/** What the browser was asked last, which ends when it is asked something else: it answers one question at a time. */
let asked: AbortController | null = null;

/** Has a passkey made. @param options PublicKeyCredentialCreationOptionsJSON */
export const createPasskey = (options: Json, { signal }: Ending = {}): Promise<Outcome> =>
  ask<Plain<PublicKeyCredentialCreationOptionsJSON>>(
    options,
    signal,
    async ({ user, excludeCredentials, ...rest }, ending) => {
      const publicKey = {
        ...rest,
        challenge: bytesOf(rest.challenge),
        user: { ...user, id: bytesOf(user.id) },
        excludeCredentials: withBytes(excludeCredentials),
      };
      const asked = { publicKey: publicKey as PublicKeyCredentialCreationOptions, signal: ending };
      const made = (await navigator.credentials.create(asked)) as PublicKeyCredential | null;
      return made && registrationOf(made);
    },
  );

/**
 * Asks for a passkey. @param options PublicKeyCredentialRequestOptionsJSON
 *
 * With `inField` they are offered beside the field of the address, without a prompt, until one is chosen.
 */
export const getPasskey = (options: Json, { signal, inField = false }: Ending & { inField?: boolean } = {}) =>
  ask<Plain<PublicKeyCredentialRequestOptionsJSON>>(options, signal, async ({ allowCredentials, ...rest }, ending) => {
    const publicKey = {
      ...rest,
      challenge: bytesOf(rest.challenge),
      allowCredentials: withBytes(allowCredentials),
    };
    const asked = {
      publicKey: publicKey as PublicKeyCredentialRequestOptions,
      signal: ending,
      ...(inField ? { mediation: 'conditional' as const } : {}),
    };
    const got = (await navigator.credentials.get(asked)) as PublicKeyCredential | null;
    return got && assertionOf(got);
  });

async function ask<Options extends { timeout?: number }>(
  options: Json,
  signal: AbortSignal | undefined,
  question: (options: Options, ending: AbortSignal) => Promise<object | null>,
): Promise<Outcome> {
  if (!hasPasskeys()) return { why: 'unsupported' };
  asked?.abort();
  const mine = new AbortController();
  asked = mine;
  const end = () => {
    mine.abort();
  };
  signal?.addEventListener('abort', end);
  const began = performance.now();
  let timeout = Infinity;
  try {
    const parsed = (typeof options === 'string' ? JSON.parse(options) : options) as Options;
    timeout = parsed.timeout ?? Infinity;
    const answer = await question(parsed, mine.signal);
    if (mine.signal.aborted) return { why: 'ended' };
    return answer === null ? { why: 'cancelled' } : { credential: JSON.stringify(answer) };
  } catch (error) {
    if (mine.signal.aborted) return { why: 'ended' };
    return { why: whyOf(error, performance.now() - began >= timeout) };
  } finally {
    signal?.removeEventListener('abort', end);
    if (asked === mine) asked = null;
  }
}

function whyOf(error: unknown, isLate: boolean): Why {
  switch (error instanceof DOMException ? error.name : '') {
    case 'NotAllowedError':
      return isLate ? 'timeout' : 'cancelled';
    case 'InvalidStateError':
      return 'known';
    case 'SecurityError':
      return 'address';
    case 'NotSupportedError':
      return 'unsupported';
    default:
      return 'failed';
  }
}

/** RegistrationResponseJSON. Not by `toJSON`, which browsers have that are newer than the oldest of these pages. */
function registrationOf(credential: PublicKeyCredential) {
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    ...commonOf(credential),
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports(),
    },
  };
}

/** AuthenticationResponseJSON. */
function assertionOf(credential: PublicKeyCredential) {
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    ...commonOf(credential),
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      authenticatorData: textOf(response.authenticatorData),
      signature: textOf(response.signature),
      ...(response.userHandle === null ? {} : { userHandle: textOf(response.userHandle) }),
    },
  };
}

const commonOf = ({ rawId, type, authenticatorAttachment }: PublicKeyCredential) => ({
  id: textOf(rawId),
  rawId: textOf(rawId),
  type,
  ...(authenticatorAttachment === null ? {} : { authenticatorAttachment }),
  clientExtensionResults: {},
});

const withBytes = (listed: PublicKeyCredentialDescriptorJSON[] = []) =>
  listed.map(({ id, ...rest }) => ({ ...rest, id: bytesOf(id) }));

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (it) => it.charCodeAt(0));
}

function textOf(buffer: ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
