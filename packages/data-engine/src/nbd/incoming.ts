/**
 * Outgoing connections that receive into slabs.
 *
 * Node allocates 64 KiB for each read of a socket, even for a reply of sixteen bytes, and passes it through a stream.
 * Here reads fill a slab one after the other, so that received bytes can be kept and passed on without a copy; a slab
 * is filled again when no byte of it is used any more.
 */
import net, { type Socket } from 'node:net';
import { KIB } from '@holdfast/core/model/bytes.js';
import { Slab } from './slab.js';

/** A slab's rest below this is left unused: otherwise large replies would arrive in small pieces. */
const REST_BYTES_MIN = 16 * KIB;

/**
 * Receiver of a connection's bytes: `receive` gets everything that arrives after it was set.
 *
 * The chunk holds its slab. A receiver that ignores the slab may keep the chunk for ever; others release the slab
 * once, when they have consumed the chunk.
 */
export class Incoming {
  receive: (chunk: Buffer, slab?: Slab) => void = () => undefined;
  /** Destination of the next bytes, if they have one: they are received in place. Queried before each read. */
  destination: () => Buffer | undefined = () => undefined;
  /** Number of bytes received into the last queried destination. */
  landed: (count: number) => void = () => undefined;
}

export type Connection = { socket: Socket; incoming: Incoming };

/**
 * Connects. Bytes arrive once it is connected; `pause` and `resume` of the socket control the flow. It has no `data`
 * events.
 */
export function connectTo(host: string, port: number): Connection {
  const incoming = new Incoming();
  let slab = Slab.take();
  let rest = slab.buffer;
  let isDestination = false;
  const buffer = () => {
    const destination = incoming.destination();
    isDestination = destination !== undefined;
    if (destination !== undefined) return destination;
    if (slab.isUnused) {
      rest = slab.buffer;
    } else if (rest.length < REST_BYTES_MIN) {
      slab.retire();
      slab = Slab.take();
      rest = slab.buffer;
    }
    return rest;
  };
  const callback = (count: number) => {
    if (isDestination) {
      incoming.landed(count);
      return true;
    }
    const chunk = rest.subarray(0, count);
    rest = rest.subarray(count);
    slab.hold();
    incoming.receive(chunk, slab);
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
