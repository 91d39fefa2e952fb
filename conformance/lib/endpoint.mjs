// Webhook endpoints of the run's site, managed over HTTP by the holder of the site's key.
import { member, text } from './parse.mjs';

/** @import { World } from './world.mjs' */

const ENDPOINTS = 'https://www.wixapis.com/_api/webhooks/v1/endpoints';

/**
 * @typedef {object} EndpointWish
 * @property {string} appId
 * @property {string} url
 * @property {string[]} types
 * @property {string[]} [collections]
 * @property {'jwt' | 'standard'} [format]
 */

/** What asking for an endpoint is answered. @param {World} world @param {EndpointWish} wish */
export async function askForEndpoint(world, wish) {
  const response = await call(world, 'POST', ENDPOINTS, wish);
  return { status: response.status, answer: await response.json() };
}

/** An endpoint, with its secret. @param {World} world @param {EndpointWish} wish */
export async function createEndpoint(world, wish) {
  const { status, answer } = await askForEndpoint(world, wish);
  if (status >= 300) throw new Error(`no endpoint was made: ${status} ${JSON.stringify(answer)}`);
  const id = text(member(answer, 'endpoint'), 'id');
  return {
    id,
    secret: text(answer, 'secret'),
    async rotateSecret() {
      const response = await call(world, 'POST', `${ENDPOINTS}/${id}/rotate-secret`, {});
      return text(await response.json(), 'secret');
    },
    async pause() {
      const response = await call(world, 'POST', `${ENDPOINTS}/${id}/pause`, {});
      if (!response.ok) throw new Error(`the endpoint was not paused: ${response.status}`);
    },
    async resume() {
      const response = await call(world, 'POST', `${ENDPOINTS}/${id}/resume`, {});
      if (!response.ok) throw new Error(`the endpoint was not resumed: ${response.status}`);
    },
    async remove() {
      const response = await call(world, 'DELETE', `${ENDPOINTS}/${id}`);
      if (!response.ok) throw new Error(`the endpoint was not removed: ${response.status}`);
    },
  };
}

/** @param {World} world @param {string} method @param {string} url @param {object} [body] */
function call(world, method, url, body) {
  const json = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {};
  return world.app.fetchWithAuth(url, { method, ...json });
}
