/** The control plane's certificate authority: makes itself, and signs certificates of nodes and of API processes. */
import 'reflect-metadata';
import crypto, { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralNames,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { keyHashOf } from './certificate.js';
import { CONTROL_PLANE_NAME, type NodeName, nodeDnsName, nodeUri, WORKER_URI } from './names.js';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;
const AUTHORITY_YEARS = 10;
const DAY_MS = 24 * 3_600_000;
/** Certificates begin this much before they are made, for clocks that are behind ours. */
const BACKDATED_MS = DAY_MS;

/** Certificate and private key (PKCS #8) of an authority, in PEM. */
export type Authority = { certificatePem: string; keyPem: string };

/** A certificate with the key that belongs to it, in PEM. */
export type KeyedCertificate = { certificatePem: string; keyPem: string };

export async function makeAuthority(now: Date): Promise<Authority & { notAfter: Date }> {
  const keys = await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const notAfter = new Date(now.getTime() + AUTHORITY_YEARS * 365 * DAY_MS);
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serialNumber(),
      name: `CN=Holdfast control plane ${crypto.randomBytes(4).toString('hex')}`,
      notBefore: new Date(now.getTime() - BACKDATED_MS),
      notAfter,
      keys,
      signingAlgorithm: SIGNATURE,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    },
    webcrypto,
  );
  return { certificatePem: certificate.toString('pem'), keyPem: await pemOf(keys.privateKey), notAfter };
}

/** A certificate request's key, which the request's own signature proves that its sender has. */
export type RequestedKey = { keyHash: string; publicKey: Buffer };

/** @returns `undefined` for a text that is no request, is not signed by its own key, or has a key of another kind than P-256 */
export async function readRequest(requestPem: string): Promise<RequestedKey | undefined> {
  try {
    const request = new Pkcs10CertificateRequest(requestPem);
    const publicKey = Buffer.from(request.publicKey.rawData);
    const key = crypto.createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return undefined;
    return (await request.verify(webcrypto)) ? { keyHash: keyHashOf(key), publicKey } : undefined;
  } catch {
    return undefined;
  }
}

/** Signs a node's certificate. Its subject is the node's name, for people; what counts is the URI. */
export function signNodeCertificate(
  authority: Authority,
  node: NodeName & { name: string },
  key: RequestedKey,
  life: { now: Date; notAfter: Date },
): Promise<string> {
  return sign(authority, {
    subject: node.name,
    names: [
      { type: 'url', value: nodeUri(node) },
      { type: 'dns', value: nodeDnsName(node.nodeId) },
    ],
    uses: [ExtendedKeyUsage.clientAuth, ExtendedKeyUsage.serverAuth],
    publicKey: key.publicKey,
    ...life,
  });
}

/** Makes a certificate that an API process serves agents with. */
export function makeControlPlaneCertificate(authority: Authority, life: Life): Promise<KeyedCertificate> {
  return makeKeyed(authority, life, {
    subject: 'control plane',
    names: [{ type: 'dns', value: CONTROL_PLANE_NAME }],
    uses: [ExtendedKeyUsage.serverAuth],
  });
}

/** Makes a certificate that a worker calls agents with. */
export function makeWorkerCertificate(authority: Authority, life: Life): Promise<KeyedCertificate> {
  return makeKeyed(authority, life, {
    subject: 'worker',
    names: [{ type: 'url', value: WORKER_URI }],
    uses: [ExtendedKeyUsage.clientAuth],
  });
}

/** Makes a certificate of a server that is known by its host names: a database or a queue beside the control plane. */
export function makeServerCertificate(
  authority: Authority,
  hosts: readonly string[],
  life: Life,
): Promise<KeyedCertificate> {
  return makeKeyed(authority, life, {
    subject: hosts[0] ?? 'server',
    names: hosts.map((value) => ({ type: 'dns', value })),
    uses: [ExtendedKeyUsage.serverAuth],
  });
}

type Life = { now: Date; notAfter: Date };

async function makeKeyed(
  authority: Authority,
  life: Life,
  wanted: Pick<Signed, 'subject' | 'names' | 'uses'>,
): Promise<KeyedCertificate> {
  const keys = await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const publicKey = Buffer.from(await webcrypto.subtle.exportKey('spki', keys.publicKey));
  const certificatePem = await sign(authority, { ...wanted, publicKey, ...life });
  return { certificatePem, keyPem: await pemOf(keys.privateKey) };
}

type Signed = {
  subject: string;
  names: JsonGeneralNames;
  uses: ExtendedKeyUsage[];
  publicKey: Buffer;
  now: Date;
  notAfter: Date;
};

async function sign(authority: Authority, wanted: Signed): Promise<string> {
  const issuer = new X509Certificate(authority.certificatePem);
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(),
      subject: `CN=${wanted.subject}`,
      issuer: issuer.subject,
      notBefore: new Date(wanted.now.getTime() - BACKDATED_MS),
      notAfter: wanted.notAfter,
      publicKey: wanted.publicKey,
      signingKey: await privateKeyOf(authority.keyPem),
      signingAlgorithm: SIGNATURE,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension(wanted.uses),
        new SubjectAlternativeNameExtension(wanted.names),
        await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ],
    },
    webcrypto,
  );
  return certificate.toString('pem');
}

/** 128 random bits; the first one is 0, as the number must be positive. */
function serialNumber(): string {
  const bytes = crypto.randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return crypto.KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString();
}

function privateKeyOf(keyPem: string): Promise<webcrypto.CryptoKey> {
  const der = crypto.createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, KEY, false, ['sign']);
}
