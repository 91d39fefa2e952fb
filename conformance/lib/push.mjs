// A service for notifications and the browsers that it knows, in this process. What a server sends is checked as such a service does
// (RFC 8030, RFC 8292) and decrypted by the package of another (RFC 8291). Imports no package, so that e2e can use it.
import assert from 'node:assert/strict';
import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import { createServer } from 'node:http';
import { member, text } from './parse.mjs';

/** @typedef {{ decrypt(body: Buffer, params: object): Buffer }} Ece the package http_ece */
/** @typedef {Awaited<ReturnType<typeof startPushService>>} PushService */
/** @typedef {ReturnType<PushService['browser']>} PushBrowser */

const LIMIT_MS = 15_000;
/** Of a body (RFC 8030 §7.2). */
const MOST_BYTES = 4096;
const LONGEST_TTL_SECONDS = 120;
const DAY_SECONDS = 24 * 60 * 60;

/** @param {Ece} ece */
export async function startPushService(ece) {
  /** @type {Map<string, (headers: NodeJS.Dict<string | string[]>, body: Buffer) => number>} */
  const takers = new Map();
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    request.on('end', () => {
      const take = request.method === 'POST' ? takers.get(request.url ?? '') : undefined;
      response.writeHead(take ? take(request.headers, Buffer.concat(chunks)) : 404).end();
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    /** Another browser, whose address is for those who have this key. @param {string} siteKey base64url */
    browser(siteKey) {
      const keys = createECDH('prime256v1');
      const publicKey = keys.generateKeys();
      const secret = randomBytes(16);
      const path = `/push/${randomBytes(16).toString('base64url')}`;
      /** @type {unknown[]} */
      const messages = [];
      /** @type {string[]} */
      const problems = [];
      let isGone = false;
      takers.set(path, (headers, body) => {
        if (isGone) return 410;
        try {
          checkHeaders(headers, body);
          checkSender(String(headers.authorization), origin, siteKey);
          const params = { version: 'aes128gcm', privateKey: keys, authSecret: secret };
          messages.push(JSON.parse(ece.decrypt(body, params).toString()));
          return 201;
        } catch (error) {
          problems.push(String(error));
          return 400;
        }
      });
      return {
        subscription: {
          endpoint: origin + path,
          keys: { p256dh: publicKey.toString('base64url'), auth: secret.toString('base64url') },
        },
        messages,
        /** From now on the service knows it no more. */
        leave: () => {
          isGone = true;
        },
        /** The message of this kind that comes after so many of it. @param {'question' | 'code'} kind @param {number} [before] */
        async next(kind, before = 0) {
          const end = Date.now() + LIMIT_MS;
          for (;;) {
            if (problems.length > 0) throw new Error(`a message was refused: ${problems.join('; ')}`);
            const found = messages.filter((it) => member(it, 'kind') === kind)[before];
            if (found !== undefined) return found;
            if (Date.now() > end) throw new Error(`no ${kind} came within ${LIMIT_MS} ms`);
            await new Promise((done) => setTimeout(done, 20));
          }
        },
      };
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(() => done(undefined)));
    },
  };
}

/** @param {NodeJS.Dict<string | string[]>} headers @param {Buffer} body */
function checkHeaders(headers, body) {
  assert.equal(headers['content-encoding'], 'aes128gcm');
  const ttl = Number(headers.ttl);
  assert.ok(ttl > 0 && ttl <= LONGEST_TTL_SECONDS, `TTL ${headers.ttl}`);
  assert.equal(headers.urgency, 'high');
  assert.match(String(headers.topic), /^[\w-]{1,32}$/);
  assert.ok(body.length <= MOST_BYTES, `a body of ${body.length} bytes`);
}

/** Who sends (RFC 8292 §2). @param {string} authorization @param {string} origin @param {string} siteKey */
function checkSender(authorization, origin, siteKey) {
  const [, token = '', key] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
  assert.equal(key, siteKey, authorization);
  const [head = '', claims = '', signature = ''] = token.split('.');
  /** @param {string} part @returns {unknown} */
  const read = (part) => JSON.parse(Buffer.from(part, 'base64url').toString());
  assert.deepEqual(read(head), { typ: 'JWT', alg: 'ES256' });
  const point = Buffer.from(siteKey, 'base64url');
  assert.deepEqual([point.length, point[0]], [65, 4], 'an uncompressed point');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((it) => it.toString('base64url'));
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  assert.ok(isSigned, 'the signature is wrong');
  const said = read(claims);
  assert.equal(text(said, 'aud'), origin);
  const left = Number(member(said, 'exp')) - Date.now() / 1000;
  assert.ok(left > 0 && left <= DAY_SECONDS, `ends in ${left} seconds`);
  // Some services take nothing of a sender that names no way to be told of problems.
  assert.match(text(said, 'sub'), /^(mailto:|https?:\/\/)/);
}
