/** The certificate files with which this node shows who it is on NBD connections, and knows others. */
import fs from 'node:fs/promises';
import tls from 'node:tls';

/** PEM files. Who connects and who is connected to shows a certificate of the CA: one and the same for all nodes. */
export type CertificateFiles = { certFile: string; keyFile: string; caFile: string };

/** What `node:tls` takes; both ends insist on the other's certificate. */
export type TlsIdentity = { cert: Buffer; key: Buffer; ca: Buffer; minVersion: 'TLSv1.2' };

/**
 * Reads the files again for every connection, which there are few of: renewed ones are in use at once, without a
 * restart. While they are half replaced (or broken) the last ones that fitted together go on.
 */
export class Certificates {
  private lastGood: TlsIdentity | undefined;

  constructor(private readonly files: CertificateFiles) {}

  /** @throws Error that says which file is missing, or what is wrong with them, when there have been no good ones. */
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
  // Finds a key that is another certificate's, and files that are no PEM.
  tls.createSecureContext(identity);
  return identity;
}
