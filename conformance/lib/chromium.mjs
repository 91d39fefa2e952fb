// A real Chromium that reaches the run's servers under the public names.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * @param {{ apiPort: number, spki: string }} options `spki` from `createCertificates`
 */
export async function launchChromium({ apiPort, spki }) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(`no browser at ${executablePath}: install the package chromium, or set CHROMIUM`);
  const hosts = ['www.wixapis.com', 'edge.wixapis.com', 'www.wix.com'].map(
    (name) => `MAP ${name}:443 127.0.0.1:${apiPort}`,
  );
  return chromium.launch({
    executablePath,
    args: [
      ...FLAGS,
      // Every other name fails at once, so no test depends on the network outside.
      `--host-resolver-rules=${[...hosts, 'MAP atlas.test 127.0.0.1', 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost'].join(',')}`,
      `--ignore-certificate-errors-spki-list=${spki}`,
    ],
  });
}
