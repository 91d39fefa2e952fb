// A passkey in software (WebAuthn Level 2, ES256): what an authenticator and a browser answer together, so that a row can show one
// where no page is open. Nothing of it is taken from the server's code.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * @typedef {{ challenge: string, rp: { id: string }, user: { id: string } }} CreationOptions
 * @typedef {{ challenge: string, rpId: string, allowCredentials?: { id: string }[] }} RequestOptions
 */

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;
const ES256 = -7;

/** @param {string | Buffer} bytes */
const sha256 = (bytes) => createHash('sha256').update(bytes).digest();
/** @param {Buffer} bytes */
const base64url = (bytes) => bytes.toString('base64url');

/** The head of a CBOR item (RFC 8949). @param {number} major @param {number} value */
function head(major, value) {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

/** @param {number} value */
const integer = (value) => (value < 0 ? head(1, -1 - value) : head(0, value));
/** @param {string} value */
const words = (value) => Buffer.concat([head(3, value.length), Buffer.from(value)]);
/** @param {Buffer} value */
const bytes = (value) => Buffer.concat([head(2, value.length), value]);
/** @param {Buffer[]} parts key, value, key, value */
const map = (...parts) => Buffer.concat([head(5, parts.length / 2), ...parts]);

/** A passkey for pages of one origin. */
export class SoftwarePasskey {
  #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  #id = randomBytes(32);
  #counter = 0;
  #user = '';
  #origin;

  /** @param {string} origin */
  constructor(origin) {
    this.#origin = origin;
  }

  /** The registration, as `PublicKeyCredential.toJSON` has it. @param {CreationOptions} options */
  create(options) {
    this.#user = options.user.id;
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const point = [x, y].map((it) => bytes(Buffer.from(it, 'base64url')));
    const key = map(
      ...[integer(1), integer(2), integer(3), integer(ES256), integer(-1), integer(1)],
      ...[integer(-2), point[0] ?? Buffer.alloc(0), integer(-3), point[1] ?? Buffer.alloc(0)],
    );
    const length = Buffer.from([0, this.#id.length]);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#id, key]);
    const data = Buffer.concat([this.#data(options.rp.id, HAS_CREDENTIAL), credential]);
    const object = map(words('fmt'), words('none'), words('attStmt'), map(), words('authData'), bytes(data));
    return this.#credential({
      clientDataJSON: base64url(this.#client('webauthn.create', options.challenge)),
      attestationObject: base64url(object),
      transports: ['internal'],
    });
  }

  /** An assertion, as `PublicKeyCredential.toJSON` has it. @param {RequestOptions} options */
  get(options) {
    const allowed = options.allowCredentials ?? [];
    if (allowed.length > 0 && !allowed.some(({ id }) => id === base64url(this.#id)))
      throw new Error('another passkey is asked for');
    this.#counter += 1;
    const client = this.#client('webauthn.get', options.challenge);
    const data = this.#data(options.rpId, 0);
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#keys.privateKey);
    return this.#credential({
      clientDataJSON: base64url(client),
      authenticatorData: base64url(data),
      signature: base64url(signature),
      userHandle: this.#user,
    });
  }

  /** @param {string} rpId @param {number} more flags */
  #data(rpId, more) {
    const rest = Buffer.alloc(5);
    rest.writeUInt8(USER_PRESENT | USER_VERIFIED | more);
    rest.writeUInt32BE(this.#counter, 1);
    return Buffer.concat([sha256(rpId), rest]);
  }

  /** @param {string} type @param {string} challenge */
  #client(type, challenge) {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false }));
  }

  /** @param {Record<string, unknown>} response */
  #credential(response) {
    const id = base64url(this.#id);
    return {
      id,
      rawId: id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response,
    };
  }
}
