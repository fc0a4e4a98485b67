import type { Socket } from 'node:net';

/**
 * Stops reading a socket that is about to be sent to another process.
 *
 * Node goes on reading a sent socket until the receiver has confirmed it, and drops what it read: bytes that the new
 * owner needs. Node has no public call that stops the read at once (`pause` lets one more chunk in), hence the one
 * use of a private field in this code base. Without that field only the protection is lost, and only against a client
 * that sends requests before it was told that it may.
 */
export function stopReading(socket: Socket): void {
  socket.pause();
  // The cast names the two private things used; both are checked before use.
  const handle = (socket as unknown as { _handle?: { readStop?: () => void } | null })._handle;
  handle?.readStop?.();
}

/** Bytes that arrived after the handshake's last chunk was handled and before reading stopped. */
export function takeBuffered(socket: Socket): Buffer {
  const chunks: Buffer[] = [];
  // Bounded by the socket's high-water mark: reading has stopped.
  for (let chunk: unknown = readBuffered(socket); chunk instanceof Buffer; chunk = readBuffered(socket)) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function readBuffered(socket: Socket): unknown {
  return socket.readableLength > 0 ? socket.read(socket.readableLength) : null;
}
