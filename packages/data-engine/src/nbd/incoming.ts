/**
 * Outgoing connections that receive into slabs.
 *
 * Node allocates 64 KiB for each read of a socket, even for a reply of sixteen bytes, and passes it through a stream.
 * Here reads fill a slab one after the other, so that received bytes can be kept and passed on without a copy; a slab
 * is filled again when no byte of it is used any more.
 */
import net, { type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { KIB } from '@holdfast/core/model/bytes.js';
import { takeBuffered } from './release-socket.js';
import { SLAB_BYTES, Slab } from './slab.js';

/** A slab's rest below this is left unused: otherwise large replies would arrive in small pieces. */
const REST_BYTES_MIN = 16 * KIB;

const NOTHING = Buffer.alloc(0);
/** Maximum of one read from a client, as from a stream: it bounds how many requests are parsed before any is served. */
const FROM_CLIENT_BYTES_MAX = 64 * KIB;

/**
 * Receiver of a connection's bytes: `receive` gets everything that arrives after it was set.
 *
 * The chunk holds its slab. A receiver that ignores the slab may keep the chunk for ever; others release the slab
 * once, when they have consumed the chunk.
 */
export class Incoming {
  receive: (chunk: Buffer, slab?: Slab) => void = () => undefined;
}

export type Connection = { socket: Socket; incoming: Incoming };

/**
 * Connects. Bytes arrive once it is connected; `pause` and `resume` of the socket control the flow. It has no `data`
 * events.
 */
export function connectTo(host: string, port: number): Connection {
  const incoming = new Incoming();
  const socket = net.connect({ host, port, noDelay: true, onread: intoSlabs(incoming) });
  return { socket, incoming };
}

/**
 * Goes on with a connection that was received on as a stream: from now on its bytes go into slabs. The given socket is not
 * to be read or written any more; destroying it ends the connection, and it closes when the connection does.
 *
 * Node has no public way to change how a socket receives, and sockets from another process come as streams. Where the private
 * field is missing, the bytes come through the stream as before.
 *
 * @param socket one without a `data` handler, which has nothing left to send
 * @returns also what the stream had buffered, to be consumed first
 */
export function goOnInSlabs(socket: Socket): Connection & { buffered: Buffer } {
  // The cast names the private field; it is checked before use.
  const inner = socket as unknown as { _handle?: object | null };
  const { _handle: handle } = inner;
  if (handle === undefined || handle === null || socket instanceof TLSSocket)
    return { ...asConnection(socket), buffered: NOTHING };
  const incoming = new Incoming();
  // The cast: the constructor takes a handle, and its types do not say so.
  const options = {
    handle,
    pauseOnCreate: true,
    onread: intoSlabs(incoming, FROM_CLIENT_BYTES_MAX),
  } as net.SocketConstructorOpts;
  const buffered = takeBuffered(socket);
  inner._handle = null;
  const next = new net.Socket(options);
  next.once('close', () => socket.destroy());
  socket.once('close', () => next.destroy());
  return { socket: next, incoming, buffered };
}

/** Receives into slabs, one after the other. */
function intoSlabs(incoming: Incoming, readBytesMax = SLAB_BYTES): net.OnReadOpts {
  let slab = Slab.take();
  let rest = slab.buffer;
  const buffer = () => {
    if (slab.isUnused) {
      rest = slab.buffer;
    } else if (rest.length < REST_BYTES_MIN) {
      slab.retire();
      slab = Slab.take();
      rest = slab.buffer;
    }
    return rest.length > readBytesMax ? rest.subarray(0, readBytesMax) : rest;
  };
  const callback = (count: number) => {
    const chunk = rest.subarray(0, count);
    rest = rest.subarray(count);
    slab.hold();
    incoming.receive(chunk, slab);
    return true;
  };
  return { buffer, callback };
}

/** Adapter for sockets whose bytes come through a stream, such as TLS. */
export function asConnection(socket: Socket): Connection {
  const incoming = new Incoming();
  socket.on('data', (chunk: Buffer) => incoming.receive(chunk));
  return { socket, incoming };
}
