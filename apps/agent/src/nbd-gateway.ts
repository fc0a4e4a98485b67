/**
 * The agent's one NBD port. The handshake is done here, and the connection then goes to the host process that owns the
 * export; data never passes through the agent's own process. Under TLS the export name comes inside the tunnel, so such
 * connections go to a TLS host first and come back through a plaintext socket.
 *
 * Where the agent is reached over a network, copies are served to other nodes over TLS only, and each with its name.
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

export type GatewayParts = {
  engines: Engines;
  replicas: Replicas;
  /** The port's TLS mode for users, and the tunnels that take connections which ask for TLS. */
  usersTls: 'off' | 'allow' | 'require';
  tunnels: TlsTunnels | undefined;
  /** This node, as copies know the engine that runs beside them; `undefined` before it has joined. */
  ownNodeId: () => string | undefined;
};

/** Length of a node's id, which a tunnel says ahead of what the node says. */
const NODE_ID_BYTES = 36;

export class NbdGateway {
  private readonly server: NbdServer;
  /** Servers on the plaintext sockets, at which connections arrive from TLS hosts. */
  private readonly inside: { server: NbdServer; path: string }[] = [];

  private readonly engines: Engines;
  private readonly replicas: Replicas;

  constructor({ engines, replicas, usersTls, tunnels, ownNodeId }: GatewayParts) {
    this.engines = engines;
    this.replicas = replicas;
    const accept: NbdServerOptions['accept'] = (...taken) => this.handOver(...taken);
    // Without a socket for other nodes there are none: all clients are on this machine.
    const isOnLoopback = tunnels?.nodesPath === undefined;
    const directory: NbdServerOptions['directory'] = {
      describe: (exportName, peer) => {
        const name = parseExportName(exportName);
        if (name === undefined) return this.engines.find(exportName)?.info;
        return isOnLoopback || peer !== undefined ? this.replicas.describe(name, peer) : undefined;
      },
    };
    const clientOf = (socket: net.Socket) => ({ peer: isFromHere(socket) ? ownNodeId() : undefined });
    const tls = tunnels && {
      offer: usersTls === 'require' ? usersTls : ('allow' as const),
      accept: (socket: net.Socket, noZeroes: boolean) => tunnels.accept(socket, noZeroes),
    };
    this.server = new NbdServer({
      directory,
      accept,
      ...(isOnLoopback ? {} : { clientOf }),
      ...(tls && { tls }),
    });
    const inside = { accept, tls: { offer: 'inside' as const } };
    if (tunnels?.usersPath !== undefined) {
      this.inside.push({ server: new NbdServer({ ...inside, directory }), path: tunnels.usersPath });
    }
    if (tunnels?.nodesPath !== undefined) {
      const ofNodes = { ...inside, directory, clientOf: () => ({ peerBytes: NODE_ID_BYTES }) };
      this.inside.push({ server: new NbdServer(ofNodes), path: tunnels.nodesPath });
    }
  }

  async listen(host: string, port: number): Promise<void> {
    for (const { server, path } of this.inside) await server.listenAt(path);
    await this.server.listen(host, port);
  }

  async close(): Promise<void> {
    await Promise.all([this.server, ...this.inside.map(({ server }) => server)].map((one) => one.close()));
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
    return engine?.host.peer.call('engine-connection', { ...connection, volumeId: engine.volumeId }, socket);
  }
}

/** Does the connection come from this machine? To an address of its own the kernel gives it the same one to come from. */
function isFromHere({ remoteAddress, localAddress }: net.Socket): boolean {
  return remoteAddress !== undefined && remoteAddress === localAddress;
}
