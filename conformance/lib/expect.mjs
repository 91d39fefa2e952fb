// The few expectations that many rows share, on top of node:assert.
import assert from 'node:assert/strict';
import { identified, member, present, undocumented, untyped } from './parse.mjs';

/** @import { Tokens } from '@wix/sdk' */
/** @import { ClientError } from './types.js' */

export { assert, identified, member, present, undocumented, untyped };

/**
 * The error of a call that must fail.
 * @param {Promise<unknown>} promise
 * @returns {Promise<ClientError>}
 */
export async function failure(promise) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    assert.ok(isClientError(error), `thrown was ${JSON.stringify(error)}`);
    return error;
  }
  throw new assert.AssertionError({ message: `expected a failure, got ${JSON.stringify(value)?.slice(0, 400)}` });
}

/**
 * What is read of an error has the type that the packages give it.
 * @param {unknown} error
 * @returns {error is ClientError}
 */
const isClientError = (error) => typeof error === 'object' && error !== null && 'message' in error;

/**
 * The application code of an error, when it has one.
 * @param {ClientError} error
 */
export const codeOf = (error) => error.details?.applicationError?.code;

/**
 * The call must fail with this application code; gives the error.
 * @param {Promise<unknown>} promise
 * @param {string} code
 */
export async function failsWith(promise, code) {
  const error = await failure(promise);
  assert.equal(codeOf(error), code, `expected ${code}, got: ${error.message}`);
  return error;
}

/** The call must fail with an HTTP status; gives the error. @param {Promise<unknown>} promise @param {number[]} statuses */
export async function failsWithStatus(promise, ...statuses) {
  const error = await failure(promise);
  assert.ok(
    error.status !== undefined && statuses.includes(error.status),
    `expected status ${statuses.join(' or ')}, got ${error.status}: ${error.message}`,
  );
  return error;
}

/** @param {unknown} value */
export function isGuid(value) {
  assert.match(String(value), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
}

/** A token pair as the client stores it. @param {Tokens} tokens @param {string} role */
export function isTokens(tokens, role) {
  assert.ok(tokens.accessToken.value, 'no access token');
  assert.doesNotMatch(tokens.accessToken.value, /[,\s]/, 'a comma or white space in the access token');
  assert.ok(tokens.accessToken.value.length < 4096, 'the access token is longer than a cookie holds');
  assert.ok(tokens.accessToken.expiresAt > Date.now() / 1000, 'the access token is already expired');
  assert.ok(tokens.refreshToken.value, 'no refresh token');
  assert.doesNotMatch(tokens.refreshToken.value, /[,\s]/, 'a comma or white space in the refresh token');
  assert.equal(tokens.refreshToken.role, role);
}
