/** Certificate files for mutual TLS on NBD connections: this node's identity, and the CA for those of others. */
import fs from 'node:fs/promises';
import tls from 'node:tls';

/** PEM files. Clients and servers show a certificate of the same CA, which is one for all nodes. */
export type CertificateFiles = { certFile: string; keyFile: string; caFile: string };

/** Options for `node:tls`; both sides require the other's certificate. */
export type TlsIdentity = Pick<tls.SecureContextOptions, 'cert' | 'key' | 'ca' | 'minVersion'>;

/**
 * Reads the files again for every connection; there are few, so renewed certificates take effect at once, without a
 * restart. While the files are half replaced, or broken, the last good ones are used.
 */
export class Certificates {
  private lastGood: TlsIdentity | undefined;

  constructor(private readonly files: CertificateFiles) {}

  /** @throws Error that names the missing file, or what is wrong, if the files have never been good */
  async current(): Promise<TlsIdentity> {
    try {
      this.lastGood = await readIdentity(this.files);
    } catch (error) {
      if (this.lastGood === undefined) throw error;
    }
    return this.lastGood;
  }
}

async function readIdentity({ certFile, keyFile, caFile }: CertificateFiles): Promise<TlsIdentity> {
  const [cert, key, ca] = await Promise.all([certFile, keyFile, caFile].map((file) => fs.readFile(file)));
  if (cert === undefined || key === undefined || ca === undefined) throw new Error('three files were read');
  const identity: TlsIdentity = { cert, key, ca, minVersion: 'TLSv1.2' };
  // Rejects a key of another certificate, and files that are no PEM.
  tls.createSecureContext(identity);
  return identity;
}
