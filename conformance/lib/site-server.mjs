// A small https server for the website of the run: one page for every path, and its script.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { build } from 'esbuild';

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Website of the run</title>
<link rel="icon" href="data:,"></head><body><main><h1>Website of the run</h1></main>
<script type="module" src="/app.js"></script></body></html>`;

/** The page's script, bundled from the untouched packages. @returns {Promise<string>} */
export async function bundlePage() {
  const result = await build({
    entryPoints: [new URL('../page/app.mjs', import.meta.url).pathname],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'error',
  });
  return result.outputFiles[0].text;
}

/**
 * @param {{ cert: string, key: string }} certificates paths
 * @param {string} script
 */
export async function serveSite(certificates, script) {
  const server = createServer(
    { cert: readFileSync(certificates.cert), key: readFileSync(certificates.key) },
    (request, response) => {
      const isScript = request.url === '/app.js';
      response.writeHead(200, {
        'content-type': isScript ? 'text/javascript' : 'text/html',
        'cache-control': 'no-store',
      });
      response.end(isScript ? script : PAGE);
    },
  );
  await new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => done(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    port,
    stop: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done(undefined));
      }),
  };
}
