/** Fields of a certificate, by Node's own parser. */
import crypto, { X509Certificate } from 'node:crypto';
import { type NodeName, parseNodeUri, WORKER_URI } from './names.js';

/** SHA-256 of the whole certificate in hexadecimal. */
export function fingerprintOf(certificatePem: string): string {
  return fingerprintOfDer(new X509Certificate(certificatePem).raw);
}

export function fingerprintOfDer(der: Uint8Array): string {
  return crypto.createHash('sha256').update(der).digest('hex');
}

/** SHA-256 of a public key (SPKI, DER) in hexadecimal: identifies a node, whatever certificate it has. */
export function keyHashOf(publicKey: crypto.KeyObject): string {
  return fingerprintOfDer(publicKey.export({ type: 'spki', format: 'der' }));
}

/** A node's certificate, as read from a connection. */
export type NodeCertificate = NodeName & { keyHash: string; validTo: Date };

/** @returns `undefined` for a certificate that names no node */
export function readNodeCertificate(certificate: X509Certificate): NodeCertificate | undefined {
  const [uri, ...more] = urisOf(certificate);
  const name = uri === undefined || more.length > 0 ? undefined : parseNodeUri(uri);
  if (name === undefined) return undefined;
  return { ...name, keyHash: keyHashOf(certificate.publicKey), validTo: new Date(certificate.validTo) };
}

/** Is the certificate that of a worker? Whether it is to be believed is for its connection to say. */
export function isWorkerCertificate(certificate: X509Certificate): boolean {
  return urisOf(certificate).includes(WORKER_URI);
}

/** Our authority writes no name that would have to be quoted; a quoted one is not ours. */
function urisOf({ subjectAltName = '' }: X509Certificate): string[] {
  if (subjectAltName.includes('"')) return [];
  return subjectAltName.split(', ').flatMap((name) => (name.startsWith('URI:') ? [name.slice(4)] : []));
}

/** First and last moment of a certificate. */
export function lifeOf(certificatePem: string): { notBefore: Date; notAfter: Date } {
  const { validFrom, validTo } = new X509Certificate(certificatePem);
  return { notBefore: new Date(validFrom), notAfter: new Date(validTo) };
}
