/**
 * TLS for outgoing NBD connections. Set per process and not per call, so that no connection can be forgotten: on a
 * node that requires TLS, everything that its engines and rebuilds send goes through it.
 */
import type { Socket } from 'node:net';
import tls from 'node:tls';
import type { Certificates } from './certificates.js';
import { ProtocolError } from './errors.js';

let required: Certificates | undefined;

/** From now on every NBD connection of this process uses TLS, or fails. `undefined` ends that. */
export function requireTls(certificates: Certificates | undefined): void {
  required = certificates;
}

export function isTlsRequired(): boolean {
  return required !== undefined;
}

/**
 * Runs the TLS handshake after the server has agreed to STARTTLS.
 *
 * @throws Error when the server's certificate is not of the CA or not for this host
 */
export async function securedByTls(socket: Socket, host: string): Promise<Socket> {
  if (required === undefined) throw new Error('no certificates were given');
  const secure = tls.connect({ ...(await required.current()), socket, host });
  return new Promise((resolve, reject) => {
    secure.once('secureConnect', () => resolve(secure));
    // Not removed: until the client adds its own handlers, a reset must not be an uncaught error.
    secure.on('error', reject);
    socket.once('close', () => reject(new ProtocolError('the connection closed during the TLS handshake')));
  });
}
