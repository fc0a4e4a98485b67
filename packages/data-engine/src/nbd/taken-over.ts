/**
 * Accepted connections that receive into memory which is filled bit by bit.
 *
 * For each read of a connection that it accepted Node allocates 64 KiB, and cuts off what the read did not fill. With small requests
 * that costs more than anything else of receiving them. Node fills given memory (`onread`) only for a socket that is made with it, so
 * one of that kind takes the connection over.
 */
import net, { type Socket } from 'node:net';
import { KIB } from '@holdfast/core/model/bytes.js';
import { SYSTEM_TIME, type Time } from '../base/time.js';
import { asConnection, type Connection, Incoming } from './incoming.js';
import { stopReading, takeBuffered } from './release-socket.js';

/** Memory of a connection on which little arrives: a node may serve thousands that are idle. */
const CALM_BYTES = 16 * KIB;
/** Memory of a busy one. It is never filled again, because requests go on to others who hold slices of it: that is for the heap. */
const BUSY_BYTES = 256 * KIB;
/** A connection that fills its memory sooner is a busy one. */
const BUSY_MS = 1000;
/** A rest that is a smaller share of its memory is left unused: otherwise large requests would arrive in small pieces. */
const REST_SHARE_MIN = 1 / 16;

/** Memory that one connection receives into: a large piece while much arrives, else a small one. */
export class Intake {
  private memory = Buffer.allocUnsafeSlow(CALM_BYTES);
  private sinceMs: number;
  private usedBytes = 0;

  constructor(private readonly time: Pick<Time, 'nowMs'> = SYSTEM_TIME) {
    this.sinceMs = time.nowMs();
  }

  /** Where the next read goes. */
  room(): Buffer {
    if (this.memory.length - this.usedBytes < this.memory.length * REST_SHARE_MIN) this.renew();
    return this.memory.subarray(this.usedBytes);
  }

  /** Takes the bytes that a read has stored. */
  take(count: number): Buffer {
    const from = this.usedBytes;
    this.usedBytes += count;
    return this.memory.subarray(from, this.usedBytes);
  }

  private renew(): void {
    const nowMs = this.time.nowMs();
    this.memory = Buffer.allocUnsafeSlow(nowMs - this.sinceMs < BUSY_MS ? BUSY_BYTES : CALM_BYTES);
    this.sinceMs = nowMs;
    this.usedBytes = 0;
  }
}

/** Undocumented parts of Node: the handle of a socket, and a socket made for a handle. */
type WithHandle = { _handle?: { constructor: { name: string } } | null };
type MadeForHandle = net.SocketConstructorOpts & net.ConnectOpts & { handle: object; pauseOnCreate: true };

/** Kinds of handles that fill given memory: of a TCP and of a Unix socket. */
const FILLS_MEMORY: ReadonlySet<string> = new Set(['TCP', 'Pipe']);

/**
 * Takes an accepted connection over from its socket, which afterwards only ends it and reports its end. If the socket has no handle
 * of a known kind, or still has something to send, it stays a stream.
 *
 * @returns the connection, paused, and the bytes that had arrived
 */
export function takeOver(accepted: Socket): Connection & { readonly early: Buffer } {
  // The cast names the one private field used; it is checked before use.
  const owner = accepted as unknown as WithHandle;
  const handle = owner._handle;
  const isIdle = accepted.writableLength === 0;
  if (handle == null || !isIdle || !FILLS_MEMORY.has(handle.constructor.name))
    return { ...asConnection(accepted), early: Buffer.alloc(0) };
  stopReading(accepted);
  const early = takeBuffered(accepted);
  owner._handle = null;
  const intake = new Intake();
  const incoming = new Incoming();
  const callback = (count: number) => {
    incoming.receive(intake.take(count));
    return true;
  };
  const options: MadeForHandle = {
    handle,
    pauseOnCreate: true,
    onread: { buffer: () => intake.room(), callback },
  };
  const socket = new net.Socket(options);
  socket.once('close', () => accepted.destroy());
  accepted.once('close', () => socket.destroy());
  return { socket, incoming, early };
}
