// Loaded with `node --require`. Sends the two API hosts of the public client to a server on this
// machine. Nothing of the client changes: host header, SNI and certificate checks stay real.
'use strict';
const dns = require('node:dns');
const tls = require('node:tls');

const hosts = new Set(['www.wixapis.com', 'edge.wixapis.com', 'atlas.test']);
const port = Number(process.env.CONFORMANCE_TLS_PORT);

/**
 * Both functions have several forms of arguments, so they are taken as they come.
 * @typedef {(...args: unknown[]) => unknown} Overloaded
 */

const lookup = /** @type {Overloaded} */ (dns.lookup);
Object.assign(dns, { lookup: lookupHere });
const connect = /** @type {Overloaded} */ (tls.connect);
Object.assign(tls, { connect: connectHere });

/** @param {unknown[]} args `(host, options?, done)` */
function lookupHere(...args) {
  const [host] = args;
  if (typeof host !== 'string' || !hosts.has(host)) return lookup.apply(dns, args);
  const [settings, done] = typeof args[1] === 'function' ? [{}, args[1]] : [args[1], args[2]];
  const found = { address: '127.0.0.1', family: 4 };
  const wantsAll = isObject(settings) && settings.all;
  const answer = wantsAll ? [null, [found]] : [null, found.address, found.family];
  process.nextTick(() => /** @type {Overloaded} */ (done)(...answer));
}

/** @param {unknown[]} args `(options, done?)` and older forms */
function connectHere(...args) {
  const [options] = args;
  const host = isObject(options) && (options.servername || options.host);
  // Port 443 is hard-coded in the client; a page server of the run keeps its own port.
  if (isObject(options) && typeof host === 'string' && hosts.has(host) && Number(options.port || 443) === 443) {
    args[0] = { ...options, port };
  }
  return connect.apply(tls, args);
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isObject(value) {
  return typeof value === 'object' && value !== null;
}
