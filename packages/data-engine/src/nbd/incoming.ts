/**
 * Connections that this process makes, and the memory in which their bytes arrive.
 *
 * Node gives each read of a socket 64 KiB of its own, for a reply of sixteen bytes too, and passes it through a stream. Here
 * reads fill a slab one after the other: each byte of it is handed out once, so that what was received may be
 * kept and passed on without a copy, and a slab goes when nobody uses a piece of it any more.
 */
import net, { type Socket } from 'node:net';
import { KIB } from '@holdfast/core/model/bytes.js';

/** What one read takes at most. A piece that is kept keeps all of its slab. */
const SLAB_BYTES = 256 * KIB;
/** A slab's rest below this is left unused: large replies would come in crumbs. */
const REST_BYTES_MIN = 16 * KIB;

/** Whoever sets `receive` gets what arrives from then on. */
export class Incoming {
  receive: (chunk: Buffer) => void = () => undefined;
}

export type Connection = { socket: Socket; incoming: Incoming };

/** Bytes arrive once it is connected; `pause` and `resume` of the socket hold them up. It has no `data` events. */
export function connectTo(host: string, port: number): Connection {
  const incoming = new Incoming();
  let rest = Buffer.alloc(0);
  const buffer = () => {
    if (rest.length < REST_BYTES_MIN) rest = Buffer.allocUnsafeSlow(SLAB_BYTES);
    return rest;
  };
  const callback = (count: number) => {
    const chunk = rest.subarray(0, count);
    rest = rest.subarray(count);
    incoming.receive(chunk);
    return true;
  };
  const socket = net.connect({ host, port, noDelay: true, onread: { buffer, callback } });
  return { socket, incoming };
}

/** For sockets that come by their bytes otherwise, as through TLS. */
export function asConnection(socket: Socket): Connection {
  const incoming = new Incoming();
  socket.on('data', (chunk: Buffer) => incoming.receive(chunk));
  return { socket, incoming };
}
