/**
 * NBD listener: accepts connections, runs the handshake within bounds, then hands each connection to the owner of the
 * export, in this process or in another one (see `release-socket.ts`).
 *
 * A broken or hostile client costs one connection, never the server.
 */
import net from 'node:net';
import type { NbdExport } from './export.js';
import type { Negotiated } from './handshake-frames.js';
import { NbdServerConnection } from './server-connection.js';
import {
  type ExportDirectory,
  type HandshakeClient,
  handshakeReply,
  ServerHandshake,
} from './server-handshake.js';

/** Time limit of a handshake, in milliseconds; the client is then disconnected. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Maximum connections at once: a few per volume of the largest node, and a bound on memory. */
const CONNECTIONS_MAX = 4096;

/** Takes a connection over. The socket is paused, and has no handler of the handshake left. */
export type Accept = (socket: net.Socket, negotiated: Negotiated, rest: Buffer) => void;

/** Takes over a connection whose client waits for the answer to STARTTLS, in the same state. */
export type AcceptTls = (socket: net.Socket, noZeroes: boolean) => void;

export type NbdServerOptions = {
  directory: ExportDirectory;
  accept: Accept;
  /** Plaintext only if absent. */
  tls?: { offer: 'allow' | 'require'; accept: AcceptTls } | { offer: 'inside' };
  /** What is known of a client from its connection; it is passed to the directory. */
  clientOf?: (socket: net.Socket) => HandshakeClient;
  handshakeTimeoutMs?: number;
};

export class NbdServer {
  private readonly server: net.Server;
  private readonly handshaking = new Set<net.Socket>();

  constructor(private readonly options: NbdServerOptions) {
    this.server = net.createServer({ noDelay: true }, (socket) => this.shake(socket));
    this.server.maxConnections = CONNECTIONS_MAX;
  }

  listen(host: string, port: number): Promise<net.AddressInfo> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port }, () => {
        this.server.off('error', reject);
        const address = this.server.address();
        if (address === null || typeof address === 'string') reject(new Error('not listening on TCP'));
        else resolve(address);
      });
    });
  }

  /** Listens on a Unix socket that only its owner may use. The path must not exist. */
  listenAt(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ path }, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }

  /** Stops listening and closes connections that are still in their handshake. */
  close(): Promise<void> {
    for (const socket of this.handshaking) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private shake(socket: net.Socket): void {
    const { directory, tls, clientOf } = this.options;
    const send = (frame: Buffer) => socket.write(frame);
    const handshake = new ServerHandshake(directory, send, tls?.offer, clientOf?.(socket));
    const giveUp = setTimeout(
      () => socket.destroy(),
      this.options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS,
    );
    this.handshaking.add(socket);

    const release = () => {
      clearTimeout(giveUp);
      this.handshaking.delete(socket);
      socket.off('data', onData);
    };
    const onData = (chunk: Buffer) => {
      const step = handshake.feed(chunk);
      if (step.kind === 'more') return;
      release();
      if (step.kind === 'close') {
        socket.end();
        // The client may never close its side; the answer has had enough time by then.
        setTimeout(() => socket.destroy(), 1000).unref();
        return;
      }
      socket.pause();
      if (step.kind === 'start-tls') {
        if (tls !== undefined && tls.offer !== 'inside') tls.accept(socket, step.noZeroes);
        return;
      }
      this.options.accept(socket, step.negotiated, step.rest);
    };
    socket.on('data', onData);
    socket.on('error', () => socket.destroy());
    socket.on('close', release);
    socket.write(handshake.greeting());
  }
}

/** Sends the final reply of the handshake and serves the export on this socket until it closes. */
export function serveExport(
  socket: net.Socket,
  negotiated: Negotiated,
  rest: Buffer,
  target: NbdExport,
): NbdServerConnection {
  const connection = new NbdServerConnection(socket, target, negotiated);
  connection.start(handshakeReply(negotiated, target), rest);
  return connection;
}
