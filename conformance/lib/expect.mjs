// @ts-check
// The few expectations that many rows share, on top of node:assert.
import assert from 'node:assert/strict';

export { assert };

/**
 * The error of a call that must fail.
 * @param {Promise<unknown>} promise
 * @returns {Promise<any>}
 */
export async function failure(promise) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: `expected a failure, got ${JSON.stringify(value)?.slice(0, 400)}` });
}

/**
 * The call must fail with this application code; gives the error.
 * @param {Promise<unknown>} promise
 * @param {string} code
 */
export async function failsWith(promise, code) {
  const error = await failure(promise);
  assert.equal(error.details?.applicationError?.code, code, `expected ${code}, got: ${error.message}`);
  return error;
}

/** The call must fail with an HTTP status; gives the error. @param {Promise<unknown>} promise @param {number[]} statuses */
export async function failsWithStatus(promise, ...statuses) {
  const error = await failure(promise);
  assert.ok(
    statuses.includes(error.status),
    `expected status ${statuses.join(' or ')}, got ${error.status}: ${error.message}`,
  );
  return error;
}

/** @param {any} value */
export function isGuid(value) {
  assert.match(String(value), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
}

/** A token pair as the client stores it. @param {any} tokens @param {string} role */
export function isTokens(tokens, role) {
  assert.ok(tokens.accessToken.value, 'no access token');
  assert.doesNotMatch(tokens.accessToken.value, /[,\s]/, 'a comma or white space in the access token');
  assert.ok(tokens.accessToken.value.length < 4096, 'the access token is longer than a cookie holds');
  assert.ok(tokens.accessToken.expiresAt > Date.now() / 1000, 'the access token is already expired');
  assert.ok(tokens.refreshToken.value, 'no refresh token');
  assert.doesNotMatch(tokens.refreshToken.value, /[,\s]/, 'a comma or white space in the refresh token');
  assert.equal(tokens.refreshToken.role, role);
}
