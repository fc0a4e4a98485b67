/**
 * Path of a connection through TLS: from STARTTLS at the agent's NBD port to a TLS host, which decrypts it, and back through a
 * plaintext socket, a Unix socket in the agent's state folder that speaks plain NBD. One serves users and one other nodes; each
 * exists only if such clients do.
 */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import type net from 'node:net';
import path from 'node:path';
import { type CertificateFiles, Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { stopReading, takeBuffered } from '@holdfast/data-engine/nbd/release-socket.js';
import { isLoopback } from '@holdfast/identity/names.js';
import type { Logger } from 'pino';
import type { AgentConfig } from './config.js';
import { HostPool } from './hosts/host-pool.js';
import type { NoMethods, TlsHostMethods } from './hosts/host-protocol.js';

/** Most connections of one TLS host: these end when it dies, and these share one core. */
const HOST_TUNNELS_MAX = 32;
/** Longest path of a Unix socket that the kernel takes, in bytes. */
const SOCKET_PATH_BYTES_MAX = 107;

type TunnelConfig = Pick<AgentConfig, 'nbdTls' | 'stateDirectory' | 'advertiseHost'>;

export class TlsTunnels {
  private readonly pool: HostPool<TlsHostMethods, NoMethods>;

  private constructor(
    /** Path of the plaintext socket for users; `undefined` where they use no TLS. */
    readonly usersPath: string | undefined,
    /** Path of the plaintext socket for other nodes; `undefined` on the loopback. */
    readonly nodesPath: string | undefined,
    private readonly log: Logger,
  ) {
    this.pool = new HostPool({
      entry: './tls-host.js',
      residentsMax: HOST_TUNNELS_MAX,
      prepare: () => undefined,
      lost: ({ residents }, reason) => log.error({ reason, tunnels: residents.size }, 'a TLS host died'),
    });
  }

  /**
   * Checks the certificates and makes the tunnels; `undefined` where there is no TLS.
   *
   * @throws Error that names the variable, when a file is missing or the files don't fit together
   */
  static async prepare(
    { nbdTls, stateDirectory, advertiseHost }: TunnelConfig,
    log: Logger,
  ): Promise<TlsTunnels | undefined> {
    if (nbdTls.mode !== 'off') await requireGoodFiles(nbdTls.files);
    const usersPath = nbdTls.mode === 'off' ? undefined : socketPath(stateDirectory, 'nbd.sock');
    const nodesPath = isLoopback(advertiseHost) ? undefined : socketPath(stateDirectory, 'nodes.sock');
    if (usersPath === undefined && nodesPath === undefined) return undefined;
    const tunnels = new TlsTunnels(usersPath, nodesPath, log);
    await tunnels.removeSockets();
    return tunnels;
  }

  /** Hands a connection to a TLS host. Its client waits for the answer to STARTTLS. */
  accept(socket: net.Socket, noZeroes: boolean): void {
    stopReading(socket);
    if (takeBuffered(socket).length > 0) {
      // The client sent bytes before the answer, which no honest client does.
      socket.destroy();
      return;
    }
    const tunnelId = crypto.randomUUID();
    try {
      const { peer } = this.pool.assignHost(tunnelId);
      peer
        .call('tunnel', { noZeroes, usersPath: this.usersPath, nodesPath: this.nodesPath }, socket)
        .catch((error: Error) => this.log.info({ reason: error.message }, 'a TLS connection was refused'))
        .finally(() => this.pool.leave(tunnelId));
    } catch (error) {
      this.log.error({ err: error }, 'no TLS host could be started');
      socket.destroy();
    }
  }

  async stop(): Promise<void> {
    await this.pool.stop();
    await this.removeSockets();
  }

  /** A killed agent leaves its sockets behind. */
  private async removeSockets(): Promise<void> {
    for (const file of [this.usersPath, this.nodesPath]) {
      if (file !== undefined) await fs.rm(file, { force: true });
    }
  }
}

async function requireGoodFiles(files: CertificateFiles): Promise<void> {
  const variables = { CERT: files.certFile, KEY: files.keyFile, CA: files.caFile };
  for (const [name, file] of Object.entries(variables)) {
    await fs.access(file, fs.constants.R_OK).catch((error: Error) => {
      throw new Error(`HOLDFAST_NBD_TLS_${name}: ${error.message}`);
    });
  }
  await new Certificates(files).current().catch((error: Error) => {
    throw new Error(`HOLDFAST_NBD_TLS_CERT, _KEY and _CA do not fit together: ${error.message}`);
  });
}

function socketPath(stateDirectory: string, name: string): string {
  const plaintextPath = path.join(stateDirectory, name);
  if (Buffer.byteLength(plaintextPath) <= SOCKET_PATH_BYTES_MAX) return plaintextPath;
  throw new Error(
    `HOLDFAST_STATE_DIR: ${plaintextPath} is too long for a socket: with TLS, choose a shorter folder`,
  );
}
