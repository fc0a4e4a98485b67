/**
 * TLS termination: takes a connection over at STARTTLS and forwards the decrypted bytes to a plaintext socket, a Unix
 * socket on which a server speaks plain NBD. That server never sees TLS, and this process parses no NBD.
 *
 * Both directions are pipes with backpressure: while one side does not read, the other is not read either, so that a
 * connection holds no more than the buffers of its two sockets.
 */
import type { X509Certificate } from 'node:crypto';
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

/** Plaintext socket that receives decrypted bytes, and what is known of the client, ahead of them. */
export type Plaintext = { path: string; peer: string };

/** One identity of a TLS server, and where those go who trust it. */
export type TunnelEnd = {
  identity: TlsIdentity;
  /** @param shown the client's certificate, which is of the identity's CA. @throws Error that says why it is refused */
  admit(shown: X509Certificate): Plaintext;
};

export type Tunnel = {
  /** The end for the name that a client requests; `''` if it requests none. `undefined`: no such name exists. */
  endFor(serverName: string): TunnelEnd | undefined;
  /** The client's choice before STARTTLS that still counts after it. */
  noZeroes: boolean;
};

/**
 * Answers STARTTLS and carries the connection until one side ends it.
 *
 * @throws Error when the client shows no certificate that is admitted, breaks the protocol or disconnects; its connection is
 *   closed then, and nothing else is.
 */
export async function carryTunnel(socket: net.Socket, { endFor, noZeroes }: Tunnel): Promise<void> {
  let plaintext: net.Socket | undefined;
  try {
    const { secure, end } = await acceptTls(socket, endFor);
    plaintext = await openPlaintext(admitted(secure, end), noZeroes);
    // If one direction fails, so does the other; if one ends, the other may still have replies to carry.
    const [up, down] = await Promise.allSettled([pipeline(secure, plaintext), pipeline(plaintext, secure)]);
    if (up.status === 'rejected' && down.status === 'rejected') throw up.reason;
  } finally {
    socket.destroy();
    plaintext?.destroy();
  }
}

function admitted(secure: tls.TLSSocket, end: TunnelEnd): Plaintext {
  const shown = secure.getPeerX509Certificate();
  if (shown === undefined) throw new ProtocolError('the client shows no certificate');
  return end.admit(shown);
}

/**
 * A server for this one connection, which never listens: Node verifies clients' certificates in servers only. The end
 * that the client asks for decides which certificate it is shown, and by which CA its own is judged.
 */
function acceptTls(
  socket: net.Socket,
  endFor: Tunnel['endFor'],
): Promise<{ secure: tls.TLSSocket; end: TunnelEnd }> {
  let end = endFor('');
  const server = tls.createServer({
    ...end?.identity,
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: TLS_HANDSHAKE_MAX_MS,
    SNICallback: (serverName, done) => {
      end = endFor(serverName);
      if (end === undefined) done(new ProtocolError('there is no such server here'));
      else done(null, tls.createSecureContext(end.identity));
    },
  });
  return new Promise((resolve, reject) => {
    server.once('secureConnection', (secure) => {
      // From here on the pipes report errors.
      secure.on('error', () => undefined);
      if (end === undefined) reject(new ProtocolError('there is no such server here'));
      else resolve({ secure, end });
    });
    server.once('tlsClientError', reject);
    socket.on('error', reject);
    socket.once('close', () => reject(new ProtocolError('the client went away during the TLS handshake')));
    socket.write(startTlsReply(), () => server.emit('connection', socket));
  });
}

/** Connects to the plain server and brings it to the client's state: after the greeting and the client's flags. */
async function openPlaintext({ path, peer }: Plaintext, noZeroes: boolean): Promise<net.Socket> {
  const plaintext = net.connect(path);
  try {
    await once(plaintext, 'connect');
    plaintext.write(Buffer.concat([Buffer.from(peer, 'latin1'), clientFlags(noZeroes)]));
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
