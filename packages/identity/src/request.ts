/** A node's key, and the request for a certificate of it. */
import 'reflect-metadata';
import crypto, { webcrypto } from 'node:crypto';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;

/** Makes a private key (P-256) and returns it in PEM. */
export function makeKey(): string {
  const { privateKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Makes a request (PKCS #10) that the key signs. The name in it is for people: the authority identifies by the key. */
export async function makeRequest(keyPem: string, name: string): Promise<string> {
  const privateKey = crypto.createPrivateKey(keyPem);
  const request = await Pkcs10CertificateRequestGenerator.create(
    {
      name: `CN=${name}`,
      keys: {
        privateKey: await webcrypto.subtle.importKey(
          'pkcs8',
          privateKey.export({ type: 'pkcs8', format: 'der' }),
          KEY,
          false,
          ['sign'],
        ),
        publicKey: await webcrypto.subtle.importKey(
          'spki',
          crypto.createPublicKey(keyPem).export({ type: 'spki', format: 'der' }),
          KEY,
          true,
          ['verify'],
        ),
      },
      signingAlgorithm: SIGNATURE,
    },
    webcrypto,
  );
  return request.toString('pem');
}
