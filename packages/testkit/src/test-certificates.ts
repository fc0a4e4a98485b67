import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/**
 * A certificate authority and its certificates for 127.0.0.1, made with openssl, in files of the names that libnbd's
 * `tls-certificates` and QEMU's `tls-creds-x509` look for.
 */
export class TestCertificates {
  constructor(readonly folder: string) {
    fs.mkdirSync(folder, { recursive: true });
    this.openssl([
      'req',
      '-x509',
      ...NEW_KEY,
      '-keyout',
      'ca-key.pem',
      '-out',
      'ca-cert.pem',
      '-subj',
      '/CN=test CA',
    ]);
    this.sign('server');
    this.sign('client');
  }

  get files(): { certFile: string; keyFile: string; caFile: string } {
    return {
      certFile: path.join(this.folder, 'server-cert.pem'),
      keyFile: path.join(this.folder, 'server-key.pem'),
      caFile: path.join(this.folder, 'ca-cert.pem'),
    };
  }

  /** Makes (again) the certificate and key of `server` or `client`, good for either end of a connection. */
  sign(name: 'server' | 'client', address = '127.0.0.1'): void {
    const [key, request, certificate] = [`${name}-key.pem`, `${name}.csr`, `${name}-cert.pem`];
    const extensions = path.join(this.folder, 'extensions');
    fs.writeFileSync(
      extensions,
      `subjectAltName=IP:${address}\nkeyUsage=digitalSignature\nextendedKeyUsage=serverAuth,clientAuth\n`,
    );
    this.openssl(['req', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', `/CN=${name}`]);
    const by = ['-CA', 'ca-cert.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial'];
    this.openssl([
      'x509',
      '-req',
      '-days',
      '1',
      '-in',
      request,
      ...by,
      '-extfile',
      extensions,
      '-out',
      certificate,
    ]);
  }

  private openssl(args: string[]): void {
    execFileSync('openssl', args, { cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
