// @ts-check
// A real SMTP server for the tests of mail: TLS from the start on one port, STARTTLS on another, both for
// one user. Every message it accepts is parsed and printed as a line of JSON; the first line says where it
// listens and whom to trust. It ends with its standard input.
//   node server.mjs [PORT [STARTTLS_PORT]]
// refused@… is no mailbox here (550); busy@… is told to come again once (451); a message from unverified@… is refused
// once (550). slow@… waits before it takes
// a message and late@… before it says that it has; each says so, until a line comes on standard input. The port
// with STARTTLS takes no letters beyond ASCII in an address (no SMTPUTF8).
import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

const USER = 'stoa';
const PASSWORD = 'a secret for the tests';
const [port = '0', starttlsPort = '0'] = process.argv.slice(2);

const authority = keys();
const server = keys();
const name = [{ name: 'commonName', value: 'Tests of mail' }];
const ca = certificate(authority.publicKey, [
  { name: 'basicConstraints', cA: true, critical: true },
  { name: 'keyUsage', keyCertSign: true, critical: true },
]);
const cert = certificate(server.publicKey, [
  { name: 'basicConstraints', cA: false },
  { name: 'extKeyUsage', serverAuth: true },
  { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }, { type: 7, ip: '127.0.0.1' }] },
]);

/** Recipients that were told to come again. */
const busy = new Set();

/** Senders that were refused. */
const unverified = new Set();

/** Those who wait for the next line of standard input. */
const waiting = [];

const options = {
  key: server.pem,
  cert,
  disabledCommands: [],
  hideSMTPUTF8: false,
  authMethods: ['PLAIN', 'LOGIN'],
  logger: false,
  onAuth: (auth, _, done) => {
    const isRight = auth.username === USER && auth.password === PASSWORD;
    if (isRight) done(null, { user: auth.username });
    else done(new Error('wrong user or password'));
  },
  onMailFrom: ({ address }, _, done) => {
    if (address.startsWith('unverified@') && !unverified.has(address)) {
      unverified.add(address);
      return done(Object.assign(new Error('sender address not verified'), { responseCode: 550 }));
    }
    return done();
  },
  onRcptTo: ({ address }, _, done) => {
    if (address.startsWith('refused@')) return done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }));
    if (address.startsWith('busy@') && !busy.has(address)) {
      busy.add(address);
      return done(Object.assign(new Error('come again later'), { responseCode: 451 }));
    }
    if (address.startsWith('slow')) return hold(address, done);
    return done();
  },
  onData: (stream, session, done) => {
    const { mailFrom, rcptTo } = session.envelope;
    read(stream).then(async (bytes) => {
      const mail = await PostalMime.parse(bytes);
      print({
        from: mailFrom ? mailFrom.address : null,
        recipients: rcptTo.map((it) => it.address),
        isEncrypted: session.secure,
        user: session.user,
        sender: mail.from,
        to: mail.to ?? [],
        headers: mail.headers,
        messageId: mail.messageId,
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
      });
      if (rcptTo.some((it) => it.address.startsWith('late'))) hold(rcptTo[0].address, done);
      else done();
    }).catch(done);
  },
};

const implicit = await listen(new SMTPServer({ ...options, secure: true }), Number(port));
const starttls = await listen(new SMTPServer({ ...options, secure: false, hideSMTPUTF8: true }), Number(starttlsPort));
print({ port: implicit, starttlsPort: starttls, ca, user: USER, password: PASSWORD });
process.stdin.on('data', () => { for (const done of waiting.splice(0)) done(); }).on('end', () => { process.exit(0); });

/**
 * @param {string} address
 * @param {() => void} done
 */
function hold(address, done) {
  waiting.push(done);
  print({ waiting: address });
}

/** @param {import('node:stream').Readable} stream */
async function read(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** @param {unknown} line */
function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * @param {SMTPServer} it
 * @param {number} wanted
 * @returns {Promise<number>} the port
 */
function listen(it, wanted) {
  return new Promise((resolve, reject) => {
    it.on('error', (error) => { if (error.code === 'EADDRINUSE') reject(error); });
    it.listen(wanted, '127.0.0.1', () => { resolve(it.server.address().port); });
  });
}

function keys() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const pair = forge.pki.privateKeyFromPem(pem);
  return { pem, privateKey: pair, publicKey: forge.pki.setRsaPublicKey(pair.n, pair.e) };
}

function certificate(publicKey, extensions) {
  const it = forge.pki.createCertificate();
  it.publicKey = publicKey;
  it.serialNumber = `01${publicKey.n.toString(16).slice(0, 16)}`;
  it.validity.notBefore = new Date(Date.now() - 86_400_000);
  it.validity.notAfter = new Date(Date.now() + 86_400_000);
  it.setSubject(extensions[0].cA ? name : [{ name: 'commonName', value: 'localhost' }]);
  it.setIssuer(name);
  it.setExtensions(extensions);
  it.sign(authority.privateKey, forge.md.sha256.create());
  return forge.pki.certificateToPem(it);
}
