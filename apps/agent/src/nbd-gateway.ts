/**
 * The agent's one NBD port. The handshake is done here, and the connection then goes to the host process that owns the
 * export; data never passes through the agent's own process. Under TLS the export name comes inside the tunnel, so such
 * connections go to a TLS host first and come back through the plaintext
 * socket.
 */
import type net from 'node:net';
import type { Negotiated } from '@holdfast/data-engine/nbd/handshake-frames.js';
import { stopReading, takeBuffered } from '@holdfast/data-engine/nbd/release-socket.js';
import { NbdServer, type NbdServerOptions } from '@holdfast/data-engine/nbd/server.js';
import { handshakeRefusal } from '@holdfast/data-engine/nbd/server-handshake.js';
import { parseExportName } from '@holdfast/data-engine/protocol/export-names.js';
import type { Engines } from './engines.js';
import type { Replicas } from './replicas.js';
import type { TlsTunnels } from './tls-tunnels.js';

/** The port's TLS mode, and the tunnels that take connections which ask for TLS. */
export type GatewayTls = { mode: 'allow' | 'require'; tunnels: TlsTunnels };

export class NbdGateway {
  private readonly server: NbdServer;
  /** Server on the plaintext socket, at which connections arrive from TLS hosts. */
  private readonly plaintext: NbdServer | undefined;

  constructor(
    private readonly engines: Engines,
    private readonly replicas: Replicas,
    private readonly tls: GatewayTls | undefined,
  ) {
    const serving: Pick<NbdServerOptions, 'directory' | 'accept'> = {
      directory: {
        describe: (exportName) => {
          const name = parseExportName(exportName);
          return name === undefined ? this.engines.find(exportName)?.info : this.replicas.describe(name);
        },
      },
      accept: (socket, negotiated, rest) => this.handOver(socket, negotiated, rest),
    };
    if (tls === undefined) {
      this.server = new NbdServer(serving);
      return;
    }
    const accept = (socket: net.Socket, noZeroes: boolean) => tls.tunnels.accept(socket, noZeroes);
    this.server = new NbdServer({ ...serving, tls: { offer: tls.mode, accept } });
    this.plaintext = new NbdServer({ ...serving, tls: { offer: 'inside' } });
  }

  async listen(host: string, port: number): Promise<void> {
    if (this.tls !== undefined) await this.plaintext?.listenAt(this.tls.tunnels.plaintextPath);
    await this.server.listen(host, port);
  }

  async close(): Promise<void> {
    await Promise.all([this.server.close(), this.plaintext?.close()]);
  }

  private handOver(socket: net.Socket, negotiated: Negotiated, rest: Buffer): void {
    stopReading(socket);
    const connection = {
      negotiated,
      rest: Buffer.concat([rest, takeBuffered(socket)]).toString('base64'),
    };
    const sent = this.send(socket, negotiated, connection);
    if (sent === undefined) {
      socket.end(handshakeRefusal(negotiated, 'no such export') ?? '');
      return;
    }
    // The socket belongs to the host now; if the host died on the way, the client sees the connection close.
    sent.catch(() => socket.destroy());
  }

  private send(
    socket: net.Socket,
    { exportName }: Negotiated,
    connection: { negotiated: Negotiated; rest: string },
  ): Promise<null> | undefined {
    const name = parseExportName(exportName);
    if (name?.kind === 'snapshot') {
      // The volume may be detached, so that no host has the copy open yet.
      return this.replicas
        .ensureOpen(name.replicaId)
        .then(({ peer }) => peer.call('connection', connection, socket));
    }
    if (name !== undefined) {
      return this.replicas.hostOf(name.replicaId)?.peer.call('connection', connection, socket);
    }
    const engine = this.engines.find(exportName);
    return engine?.host.peer.call('connection', { ...connection, volumeId: engine.volumeId }, socket);
  }
}
