/**
 * TLS termination: takes a connection over at STARTTLS and forwards the decrypted bytes to a plaintext socket, a Unix
 * socket on which a server speaks plain NBD. That server never sees TLS, and this process parses no NBD.
 *
 * Both directions are pipes with backpressure: while one side does not read, the other is not read either, so that a
 * connection holds no more than the buffers of its two sockets.
 */
import { once } from 'node:events';
import net from 'node:net';
import { pipeline } from 'node:stream/promises';
import tls from 'node:tls';
import type { TlsIdentity } from './certificates.js';
import { ProtocolError } from './errors.js';
import { clientFlags, GREETING_BYTES } from './handshake-frames.js';
import { startTlsReply } from './server-handshake.js';

/** Time limit of the TLS handshake; the same as that of the rest of the negotiation. */
const TLS_HANDSHAKE_MAX_MS = 10_000;

export type Tunnel = {
  identity: TlsIdentity;
  /** The client's choice before STARTTLS that still counts after it. */
  noZeroes: boolean;
  /** Path of the plaintext socket. */
  plaintextPath: string;
};

/**
 * Answers STARTTLS and carries the connection until one side ends it.
 *
 * @throws Error when the client shows no certificate of the CA, breaks the protocol or disconnects; its connection is
 *   closed then, and nothing else is.
 */
export async function carryTunnel(
  socket: net.Socket,
  { identity, noZeroes, plaintextPath }: Tunnel,
): Promise<void> {
  let plaintext: net.Socket | undefined;
  try {
    const secure = await acceptTls(socket, identity);
    plaintext = await openPlaintext(plaintextPath, noZeroes);
    // If one direction fails, so does the other; if one ends, the other may still have replies to carry.
    const [up, down] = await Promise.allSettled([pipeline(secure, plaintext), pipeline(plaintext, secure)]);
    if (up.status === 'rejected' && down.status === 'rejected') throw up.reason;
  } finally {
    socket.destroy();
    plaintext?.destroy();
  }
}

/** A server for this one connection, which never listens: Node verifies clients' certificates in servers only. */
function acceptTls(socket: net.Socket, identity: TlsIdentity): Promise<tls.TLSSocket> {
  const server = tls.createServer({
    ...identity,
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: TLS_HANDSHAKE_MAX_MS,
  });
  return new Promise((resolve, reject) => {
    server.once('secureConnection', (secure) => {
      // From here on the pipes report errors.
      secure.on('error', () => undefined);
      resolve(secure);
    });
    server.once('tlsClientError', reject);
    socket.on('error', reject);
    socket.once('close', () => reject(new ProtocolError('the client went away during the TLS handshake')));
    socket.write(startTlsReply(), () => server.emit('connection', socket));
  });
}

/** Connects to the plain server and brings it to the client's state: after the greeting and the client's flags. */
async function openPlaintext(plaintextPath: string, noZeroes: boolean): Promise<net.Socket> {
  const plaintext = net.connect(plaintextPath);
  try {
    await once(plaintext, 'connect');
    plaintext.write(clientFlags(noZeroes));
    await dropGreeting(plaintext);
    return plaintext;
  } catch (error) {
    plaintext.destroy();
    throw error;
  }
}

/**
 * Discards the server's greeting, as the client got one before the tunnel. Nothing follows it before the client's first
 * option.
 */
function dropGreeting(plaintext: net.Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let seenBytes = 0;
    const onData = (chunk: Buffer) => {
      seenBytes += chunk.length;
      if (seenBytes < GREETING_BYTES) return;
      plaintext.pause();
      plaintext.off('data', onData);
      resolve();
    };
    plaintext.on('data', onData);
    plaintext.on('error', reject);
    plaintext.once('close', () =>
      reject(new ProtocolError('the plaintext socket closed before its greeting')),
    );
  });
}
