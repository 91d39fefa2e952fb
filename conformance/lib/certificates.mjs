// A certificate authority and one server certificate, made for a single run. Not for production:
// the keys live in the run's temporary folder and are thrown away with it.
import { createHash, createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import forge from 'node-forge';

const SERVER_NAMES = ['www.wixapis.com', 'edge.wixapis.com', 'www.wix.com', 'atlas.test', 'localhost'];
const DAY = 86_400_000;

/**
 * Writes `ca.pem`, `server.pem` and `server-key.pem` into `folder`.
 * @param {string} folder
 * @returns {{ ca: string, cert: string, key: string, spki: string }} three paths, and the base64
 *   SHA-256 of the server's public key in the form Chromium's SPKI list takes
 */
export function createCertificates(folder) {
  const authority = keyPair();
  const authorityName = [{ name: 'commonName', value: 'Conformance run authority' }];
  const authorityCert = certificate({
    publicKey: authority.publicKey,
    subject: authorityName,
    issuer: authorityName,
    signer: authority.privateKey,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
      { name: 'subjectKeyIdentifier' },
    ],
  });

  const server = keyPair();
  const serverCert = certificate({
    publicKey: server.publicKey,
    subject: [{ name: 'commonName', value: SERVER_NAMES[0] }],
    issuer: authorityName,
    signer: authority.privateKey,
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [...SERVER_NAMES.map((value) => ({ type: 2, value })), { type: 7, ip: '127.0.0.1' }],
      },
    ],
  });

  const paths = {
    ca: join(folder, 'ca.pem'),
    cert: join(folder, 'server.pem'),
    key: join(folder, 'server-key.pem'),
  };
  const privateKey = forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(server.privateKey));
  writeFileSync(paths.ca, forge.pki.certificateToPem(authorityCert));
  writeFileSync(paths.cert, forge.pki.certificateToPem(serverCert));
  writeFileSync(paths.key, forge.pki.privateKeyInfoToPem(privateKey), { mode: 0o600 });
  const spki = createPublicKey(forge.pki.publicKeyToPem(server.publicKey)).export({ type: 'spki', format: 'der' });
  return { ...paths, spki: createHash('sha256').update(spki).digest('base64') };
}

function keyPair() {
  return forge.pki.rsa.generateKeyPair({ bits: 2048 });
}

/**
 * @param {object} parts
 * @param {forge.pki.PublicKey} parts.publicKey
 * @param {forge.pki.CertificateField[]} parts.subject
 * @param {forge.pki.CertificateField[]} parts.issuer
 * @param {forge.pki.rsa.PrivateKey} parts.signer
 * @param {object[]} parts.extensions
 */
function certificate({ publicKey, subject, issuer, signer, extensions }) {
  const cert = forge.pki.createCertificate();
  cert.publicKey = publicKey;
  // A leading zero keeps the serial number positive.
  cert.serialNumber = `00${forge.util.bytesToHex(forge.random.getBytesSync(15))}`;
  cert.validity.notBefore = new Date(Date.now() - DAY);
  cert.validity.notAfter = new Date(Date.now() + 90 * DAY);
  cert.setSubject(subject);
  cert.setIssuer(issuer);
  cert.setExtensions(extensions);
  cert.sign(signer, forge.md.sha256.create());
  return cert;
}
