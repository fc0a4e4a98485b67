/** What is read of a certificate, with Node's own parser. */
import crypto, { X509Certificate } from 'node:crypto';
import { type NodeName, parseNodeUri } from './names.js';

/** SHA-256 of the whole certificate in hexadecimal. */
export function fingerprintOf(certificatePem: string): string {
  return fingerprintOfDer(new X509Certificate(certificatePem).raw);
}

export function fingerprintOfDer(der: Uint8Array): string {
  return crypto.createHash('sha256').update(der).digest('hex');
}

/** SHA-256 of a public key (SPKI, DER) in hexadecimal: what an identity is known by, whatever certificate it has. */
export function keyHashOf(publicKey: crypto.KeyObject): string {
  return fingerprintOfDer(publicKey.export({ type: 'spki', format: 'der' }));
}

/** A node's certificate, as read from a connection. */
export type NodeCertificate = NodeName & { keyHash: string; validTo: Date };

/** @returns `undefined` for a certificate that names no node */
export function readNodeCertificate(certificate: X509Certificate): NodeCertificate | undefined {
  const uri = /^URI:([^\s,"]+)$/.exec(certificate.subjectAltName ?? '')?.[1];
  const name = uri === undefined ? undefined : parseNodeUri(uri);
  if (name === undefined) return undefined;
  return { ...name, keyHash: keyHashOf(certificate.publicKey), validTo: new Date(certificate.validTo) };
}

/** First and last moment of a certificate. */
export function lifeOf(certificatePem: string): { notBefore: Date; notAfter: Date } {
  const { validFrom, validTo } = new X509Certificate(certificatePem);
  return { notBefore: new Date(validFrom), notAfter: new Date(validTo) };
}
