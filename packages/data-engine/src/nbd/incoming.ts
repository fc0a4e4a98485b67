/**
 * Outgoing connections that receive into slabs.
 *
 * Node allocates 64 KiB for each read of a socket, even for a reply of sixteen bytes, and passes it through a stream.
 * Here reads fill a slab one after the other: each byte of it is handed out once, so that received bytes can be kept
 * and passed on without a copy, and a slab is garbage-collected when no piece of it is used any more.
 */
import net, { type Socket } from 'node:net';
import { KIB } from '@holdfast/core/model/bytes.js';

/** Slab size, and so the maximum of one read. A piece that is kept keeps its whole slab. */
const SLAB_BYTES = 256 * KIB;
/** A slab's rest below this is left unused: otherwise large replies would arrive in small pieces. */
const REST_BYTES_MIN = 16 * KIB;

/** Receiver of a connection's bytes: `receive` gets everything that arrives after it was set. */
export class Incoming {
  receive: (chunk: Buffer) => void = () => undefined;
}

export type Connection = { socket: Socket; incoming: Incoming };

/**
 * Connects. Bytes arrive once it is connected; `pause` and `resume` of the socket control the flow. It has no `data`
 * events.
 */
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

/** Adapter for sockets whose bytes come through a stream, such as TLS. */
export function asConnection(socket: Socket): Connection {
  const incoming = new Incoming();
  socket.on('data', (chunk: Buffer) => incoming.receive(chunk));
  return { socket, incoming };
}
