// A provider of text messages and calls with the HTTP interface of Twilio. It takes what the interface says and nothing else,
// and keeps it in a file beside the data directory.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const ACCOUNT = 'AC00000000000000000000000000000001';
const SECRET = 'hush-hush';
const FROM = '+15005550006';
const FORMS = { Messages: 'Body,From,To', Calls: 'From,Timeout,To,Twiml' };

/** @param {string} dataDir */
const fileBeside = (dataDir) => join(dataDir, '..', 'telephone.jsonl');

/**
 * Starts one, for a server with this data directory.
 * @param {string} dataDir
 * @returns {Promise<{ flags: string[], stop(): Promise<void> }>} what the server is started with that sends by it
 */
export async function startTelephones(dataDir) {
  const authorization = `Basic ${Buffer.from(`${ACCOUNT}:${SECRET}`).toString('base64')}`;
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const members = [...form.keys()].sort().join();
      const isRight = Object.entries(FORMS).some(
        ([what, names]) => request.url === `/2010-04-01/Accounts/${ACCOUNT}/${what}.json` && members === names,
      );
      const code = /\d{6}|(?:\d, ){5}\d/.exec(form.get('Body') ?? form.get('Twiml') ?? '')?.[0].replaceAll(', ', '');
      const isOurs = request.method === 'POST' && request.headers.authorization === authorization;
      if (!isRight || !isOurs || !code || form.get('From') !== FROM) {
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"code":21201,"status":400}');
        return;
      }
      appendFileSync(fileBeside(dataDir), `${JSON.stringify({ to: form.get('To'), code })}\n`);
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"sid":"SM1"}');
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const settings = {
    url: `http://127.0.0.1:${address.port}/2010-04-01`,
    account: ACCOUNT,
    secret: SECRET,
    from: FROM,
    countries: '49',
  };
  return {
    flags: Object.entries(settings).flatMap(([name, value]) => [`--telephone-${name}`, value]),
    stop: async () => {
      await new Promise((done) => server.close(() => done(undefined)));
    },
  };
}

/** The codes that a number got, oldest first. @param {string} dataDir @param {string} number @returns {string[]} */
export function codesTo(dataDir, number) {
  const path = fileBeside(dataDir);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => /** @type {{ to: string, code: string }} */ (JSON.parse(line)))
    .filter(({ to }) => to === number)
    .map(({ code }) => code);
}
