/**
 * Way of a connection through TLS: from STARTTLS at the agent's NBD port to a TLS host, which decrypts it, and back
 * through the plaintext socket, a Unix socket in the agent's state folder that speaks plain NBD.
 */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import type net from 'node:net';
import path from 'node:path';
import { Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { stopReading, takeBuffered } from '@holdfast/data-engine/nbd/release-socket.js';
import type { Logger } from 'pino';
import { HostPool } from './hosts/host-pool.js';
import type { NoMethods, TlsHostMethods } from './hosts/host-protocol.js';
import type { TlsConfig } from './tls-environment.js';

/** Most connections of one TLS host: these end when it dies, and these share one core. */
const HOST_TUNNELS_MAX = 32;
/** Longest path of a Unix socket that the kernel takes, in bytes. */
const SOCKET_PATH_BYTES_MAX = 107;

export class TlsTunnels {
  readonly plaintextPath: string;
  private readonly pool: HostPool<TlsHostMethods, NoMethods>;

  private constructor(
    stateDirectory: string,
    private readonly log: Logger,
  ) {
    this.plaintextPath = plaintextPathOf(stateDirectory);
    this.pool = new HostPool({
      entry: './tls-host.js',
      residentsMax: HOST_TUNNELS_MAX,
      prepare: () => undefined,
      lost: (residents, reason) => log.error({ reason, tunnels: residents.size }, 'a TLS host died'),
    });
  }

  /**
   * Checks the certificates and makes the tunnels; `undefined` where TLS is off.
   *
   * @throws Error that names the variable, when a file is missing or the files don't fit together
   */
  static async prepare(
    config: TlsConfig,
    stateDirectory: string,
    log: Logger,
  ): Promise<TlsTunnels | undefined> {
    if (config.mode === 'off') return undefined;
    const { certFile, keyFile, caFile } = config.files;
    const variables = { CERT: certFile, KEY: keyFile, CA: caFile };
    for (const [name, file] of Object.entries(variables)) {
      await fs.access(file, fs.constants.R_OK).catch((error: Error) => {
        throw new Error(`HOLDFAST_NBD_TLS_${name}: ${error.message}`);
      });
    }
    await new Certificates(config.files).current().catch((error: Error) => {
      throw new Error(`HOLDFAST_NBD_TLS_CERT, _KEY and _CA do not fit together: ${error.message}`);
    });
    const tunnels = new TlsTunnels(stateDirectory, log);
    // A killed agent may have left its socket behind.
    await fs.rm(tunnels.plaintextPath, { force: true });
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
        .call('tunnel', { noZeroes, plaintextPath: this.plaintextPath }, socket)
        .catch((error: Error) => this.log.info({ reason: error.message }, 'a TLS connection was refused'))
        .finally(() => this.pool.leave(tunnelId));
    } catch (error) {
      this.log.error({ error }, 'no TLS host could be started');
      socket.destroy();
    }
  }

  async stop(): Promise<void> {
    await this.pool.stop();
    await fs.rm(this.plaintextPath, { force: true });
  }
}

function plaintextPathOf(stateDirectory: string): string {
  const plaintextPath = path.join(stateDirectory, 'nbd.sock');
  if (Buffer.byteLength(plaintextPath) <= SOCKET_PATH_BYTES_MAX) return plaintextPath;
  throw new Error(
    `HOLDFAST_STATE_DIR: ${plaintextPath} is too long for a socket: with TLS, choose a shorter folder`,
  );
}
