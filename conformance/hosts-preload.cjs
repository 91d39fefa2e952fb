// Loaded with `node --require`. Sends the two API hosts of the public client to a server on this
// machine. Nothing of the client changes: host header, SNI and certificate checks stay real.
'use strict';
const dns = require('node:dns');
const tls = require('node:tls');

const hosts = new Set(['www.wixapis.com', 'edge.wixapis.com', 'atlas.test']);
const port = Number(process.env.CONFORMANCE_TLS_PORT);

const lookup = dns.lookup;
dns.lookup = function (host, options, done) {
  if (!hosts.has(host)) return lookup.call(dns, host, options, done);
  const [settings, callback] = typeof options === 'function' ? [{}, options] : [options ?? {}, done];
  const found = { address: '127.0.0.1', family: 4 };
  process.nextTick(() => (settings.all ? callback(null, [found]) : callback(null, found.address, found.family)));
};

const connect = tls.connect;
tls.connect = function (...args) {
  const options = args[0];
  const host = options && (options.servername || options.host);
  // Port 443 is hard-coded in the client; a page server of the run keeps its own port.
  if (options && typeof options === 'object' && hosts.has(host) && Number(options.port || 443) === 443) {
    args[0] = { ...options, port };
  }
  return connect.apply(tls, args);
};
