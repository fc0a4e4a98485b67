/**
 * TLS for outgoing NBD connections. Chosen per process and not per call, so that no connection can be forgotten: the
 * process says once which of its connections use TLS, and with which certificates.
 */
import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Certificates } from './certificates.js';
import { ProtocolError } from './errors.js';

/** Peer of a connection. `nodeId`: the node that has to answer; absent if any server of that host will do. */
export type NbdPeer = { readonly host: string; readonly nodeId?: string | undefined };

/** Options for `node:tls` with which the peer is reached; `undefined`: without TLS. */
export type TlsChoice = (peer: NbdPeer) => Promise<tls.ConnectionOptions | undefined>;

let choice: TlsChoice | undefined;

/** From now on every NBD connection of this process is made as the choice says. `undefined`: all without TLS. */
export function chooseTls(next: TlsChoice | undefined): void {
  choice = next;
}

/** From now on every NBD connection of this process uses TLS, or fails. `undefined` ends that. */
export function requireTls(certificates: Certificates | undefined): void {
  chooseTls(certificates === undefined ? undefined : withCertificates(certificates));
}

/** Choice of TLS for all connections: the server's certificate has to be of the same CA, and for the host. */
export function withCertificates(certificates: Certificates): TlsChoice {
  return async ({ host }) => ({ ...(await certificates.current()), host });
}

export function tlsTowards(peer: NbdPeer): Promise<tls.ConnectionOptions | undefined> | undefined {
  return choice?.(peer);
}

/**
 * Runs the TLS handshake after the server has agreed to STARTTLS.
 *
 * @throws Error when the server's certificate is not signed by the CA or not for the requested name
 */
export async function securedByTls(socket: Socket, options: tls.ConnectionOptions): Promise<Socket> {
  const secure = tls.connect({ ...options, socket });
  return new Promise((resolve, reject) => {
    secure.once('secureConnect', () => resolve(secure));
    // Not removed: until the client adds its own handlers, a reset must not be an uncaught error.
    secure.on('error', reject);
    socket.once('close', () => reject(new ProtocolError('the connection closed during the TLS handshake')));
  });
}
