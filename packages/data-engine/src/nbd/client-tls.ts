/**
 * TLS for the connections that this process makes. It is a choice of the process and not of each call, so that no
 * connection can be forgotten: where a node requires TLS, all that its engines and rebuilds send goes through it.
 */
import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Certificates } from './certificates.js';
import { ProtocolError } from './errors.js';

let required: Certificates | undefined;

/** From now on every NBD connection of this process turns to TLS, or fails. `undefined` ends that. */
export function requireTls(certificates: Certificates | undefined): void {
  required = certificates;
}

export function isTlsRequired(): boolean {
  return required !== undefined;
}

/**
 * Does the TLS handshake after the server has agreed to STARTTLS.
 *
 * @throws Error when the server's certificate is not of the CA or not for this host
 */
export async function securedByTls(socket: Socket, host: string): Promise<Socket> {
  if (required === undefined) throw new Error('no certificates were given');
  const secure = tls.connect({ ...(await required.current()), socket, host });
  return new Promise((resolve, reject) => {
    secure.once('secureConnect', () => resolve(secure));
    // Stays: until the client's own handlers are there, a reset must not be an uncaught error.
    secure.on('error', reject);
    socket.once('close', () => reject(new ProtocolError('the connection closed during the TLS handshake')));
  });
}
