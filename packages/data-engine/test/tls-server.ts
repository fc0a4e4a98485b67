import crypto from 'node:crypto';
import net from 'node:net';
import path from 'node:path';
import type { TestCertificates } from '@holdfast/testkit/test-certificates.js';
import { Certificates } from '../src/nbd/certificates.js';
import { NbdServer, serveExport } from '../src/nbd/server.js';
import { carryTunnel } from '../src/nbd/tls-tunnel.js';
import type { MemoryExport } from './memory-export.js';

export const TLS_EXPORT_NAME = 'disk.with.secret';

type TlsServerParts = {
  /** Where the plaintext socket is made. */
  folder: string;
  files: TestCertificates['files'];
  /** Gets what ends the server. */
  stops: (() => Promise<void> | void)[];
};

/** A server with its plaintext socket, as in an agent, in one process. */
export class TlsServer {
  port = 0;
  readonly failures: unknown[] = [];
  private readonly sockets = new Set<net.Socket>();

  static async start(
    device: MemoryExport,
    offer: 'allow' | 'require',
    { folder, files, stops }: TlsServerParts,
  ): Promise<TlsServer> {
    const served = new TlsServer();
    const plaintextPath = path.join(folder, `plain-${crypto.randomUUID().slice(0, 8)}`);
    const directory = {
      describe: (name: string) => (name === TLS_EXPORT_NAME ? device : undefined),
    };
    const accept = (socket: net.Socket, negotiated: Parameters<typeof serveExport>[1], rest: Buffer) => {
      served.sockets.add(socket);
      serveExport(socket, negotiated, rest, device);
    };
    const certificates = new Certificates(files);
    const acceptTls = async (socket: net.Socket, noZeroes: boolean) => {
      served.sockets.add(socket);
      const identity = await certificates.current();
      const end = { identity, admit: () => ({ path: plaintextPath, peer: '' }) };
      await carryTunnel(socket, { endFor: () => end, noZeroes }).catch((error) =>
        served.failures.push(error),
      );
    };
    const outside = new NbdServer({
      directory,
      accept,
      tls: { offer, accept: (...taken) => void acceptTls(...taken) },
    });
    const plaintext = new NbdServer({ directory, accept, tls: { offer: 'inside' } });
    await plaintext.listenAt(plaintextPath);
    served.port = (await outside.listen('127.0.0.1', 0)).port;
    stops.push(async () => {
      for (const socket of served.sockets) socket.destroy();
      await Promise.all([outside.close(), plaintext.close()]);
    });
    return served;
  }

  get address() {
    return { host: '127.0.0.1', port: this.port, exportName: TLS_EXPORT_NAME };
  }

  uri(certificates: TestCertificates, name = TLS_EXPORT_NAME): string {
    return `nbds://127.0.0.1:${this.port}/${name}?tls-certificates=${certificates.folder}`;
  }
}
