/**
 * Pipelined NBD client: any number of requests in flight on one connection, each a promise.
 *
 * It sets no timeouts of its own. `silentForMs` lets the owner of many clients watch them all with one timer, and
 * `destroy` fails everything in flight.
 */
import net, { type Socket } from 'node:net';
import { BLOCK_BYTES, MIB } from '@holdfast/core/model/bytes.js';
import { SYSTEM_TIME, type Time } from '../base/time.js';
import { ByteQueue } from './byte-queue.js';
import { clientHandshake, type ServerTerms } from './client-handshake.js';
import { type NbdPeer, tlsTowards } from './client-tls.js';
import {
  Command,
  CommandFlag,
  type CommandType,
  REQUEST_BYTES,
  REQUEST_MAGIC,
  TransmissionFlag,
} from './constants.js';
import { CorkedWriter } from './corked-writer.js';
import { NbdError, ProtocolError } from './errors.js';
import {
  type Extent,
  type NbdExport,
  type NbdWrite,
  type Payload,
  type PlacedRead,
  type WriteListener,
  type WriteOptions,
  writeBy,
  type ZeroOptions,
} from './export.js';
import { writeUint64 } from './handshake-frames.js';
import { asConnection, type Connection, connectTo } from './incoming.js';
import { PendingCall, type PendingRequest, PendingTold } from './pending-request.js';
import { ReadAssembly } from './read-assembly.js';
import { type Reply, ReplyReader } from './replies.js';
import type { Slab } from './slab.js';

export type NbdAddress = NbdPeer & { port: number; exportName: string };

const NO_PAYLOAD: Payload = [];

/** Larger trims and zeroes are split into requests of this size: a multiple of any block size below 32 bits. */
const RANGE_BYTES_MAX = 1024 * MIB;

export class NbdClient implements NbdExport {
  private readonly socket: Socket;
  private readonly queue = new ByteQueue();
  private readonly replies: ReplyReader;
  private readonly writer: CorkedWriter;
  private readonly pending = new Map<number, PendingRequest>();
  private readonly closeHandlers: ((reason: Error) => void)[] = [];
  private nextCookie = 1;
  private closedBy: Error | undefined;
  /** When bytes last moved, in either direction. */
  private movedAtMs: number;
  /** Silence before this time does not count. */
  private excusedAtMs = 0;
  private sentBytes = 0;
  /** Send time of the latest answered request; at first, the time of connecting. */
  heardAtMs: number;

  private constructor(
    private readonly connection: Connection,
    readonly terms: ServerTerms,
    begunAtMs: number,
    private readonly time: Time,
  ) {
    this.movedAtMs = begunAtMs;
    this.heardAtMs = begunAtMs;
    const { socket } = connection;
    this.socket = socket;
    this.writer = new CorkedWriter(socket);
    this.replies = new ReplyReader(this.queue, (cookie) => this.pending.get(cookie)?.read);
  }

  static async connect(address: NbdAddress, timeoutMs: number, time: Time = SYSTEM_TIME): Promise<NbdClient> {
    const { host, port, exportName } = address;
    const begunAtMs = time.nowMs();
    const tls = await tlsTowards(address);
    // TLS needs a stream; plain connections read into slabs.
    const connection =
      tls === undefined ? connectTo(host, port) : asConnection(net.connect({ host, port, noDelay: true }));
    const { socket } = connection;
    let failure: Error | undefined;
    socket.on('error', (error) => {
      failure ??= error;
    });
    const giveUp = setTimeout(
      () => socket.destroy(new Error(`no NBD handshake within ${timeoutMs} ms`)),
      timeoutMs,
    );
    try {
      const opened = await clientHandshake(connection, tls, exportName);
      const client = new NbdClient(opened.connection, opened.terms, begunAtMs, time);
      client.start(opened.rest);
      return client;
    } catch (error) {
      socket.destroy();
      throw failure ?? error;
    } finally {
      clearTimeout(giveUp);
    }
  }

  get sizeBytes(): number {
    return this.terms.sizeBytes;
  }

  get readOnly(): boolean {
    return (this.terms.flags & TransmissionFlag.ReadOnly) !== 0;
  }

  /** No minimum of its own: the client passes offsets on, and the server checks them. */
  readonly blockSizeMinBytes = 1;

  get inFlight(): number {
    return this.pending.size;
  }

  get closed(): boolean {
    return this.closedBy !== undefined;
  }

  /**
   * How long the oldest request has been stuck; 0 if none is in flight. A request is not stuck while bytes of its own
   * reply still arrive, or while it may be queued behind others on a slow link. So the time counts only while nothing
   * moves, or when a request that was sent later has already been answered.
   */
  silentForMs(nowMs: number): number {
    const oldest: PendingRequest | undefined = this.pending.values().next().value;
    if (oldest === undefined) return 0;
    this.noteSent(nowMs);
    const sinceMs = Math.max(oldest.sentAtMs, oldest.movedAtMs, this.excusedAtMs);
    return Math.max(0, nowMs - Math.max(sinceMs, this.movedAtMs), this.heardAtMs - sinceMs);
  }

  /** Restarts the count of silence, because this process itself was paused. */
  excuseSilence(): void {
    this.excusedAtMs = this.time.nowMs();
  }

  /** Sends a request that the server answers from memory. */
  async ping(): Promise<void> {
    if (this.terms.blockStatus) await this.blockStatus(0, Math.min(BLOCK_BYTES, this.sizeBytes), 1);
    else await this.read(0, Math.min(BLOCK_BYTES, this.sizeBytes));
  }

  /** Calls the handler once when the connection is closed, by either side; at once if it already is. */
  onClose(handler: (reason: Error) => void): void {
    if (this.closedBy !== undefined) handler(this.closedBy);
    else this.closeHandlers.push(handler);
  }

  /** The payload lies in pooled memory; the caller may release it. */
  read(offset: number, lengthBytes: number): Promise<Payload> {
    return this.request(Command.Read, 0, offset, lengthBytes, readPayload);
  }

  readEachInto(reads: readonly PlacedRead[]): Promise<void> {
    if (this.closedBy !== undefined) return Promise.reject(this.closedBy);
    if (reads.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let left = reads.length;
      let failure: unknown;
      const written = (_: undefined, failed: unknown) => {
        failure ??= failed;
        left -= 1;
        // Only when all have ended: until then their memory is the connection's.
        if (left > 0) return;
        if (failure === undefined) resolve();
        else reject(failure);
      };
      const nowMs = this.time.nowMs();
      const message = Buffer.allocUnsafe(REQUEST_BYTES * reads.length);
      for (const [index, { offset, buffer }] of reads.entries()) {
        const read = new ReadAssembly(offset, buffer.length, buffer);
        const cookie = this.note(new PendingTold(nowMs, { written }, undefined, read));
        putRequestHeader(message, REQUEST_BYTES * index, Command.Read, 0, cookie, offset, buffer.length);
      }
      this.writer.send([message]);
    });
  }

  write(
    offset: number,
    payload: Payload,
    lengthBytes: number,
    { fua, alone = false }: WriteOptions,
  ): Promise<void> {
    return writeBy(this, { offset, lengthBytes, payload, fua, alone });
  }

  beginWrite<Tag>(
    { offset, lengthBytes, payload, fua, alone }: NbdWrite,
    listener: WriteListener<Tag>,
    tag: Tag,
  ): void {
    if (this.closedBy !== undefined) {
      listener.written(tag, this.closedBy);
      return;
    }
    const pending = new PendingTold(this.time.nowMs(), listener, tag);
    const flags = fua ? CommandFlag.Fua : 0;
    const message = [this.header(pending, Command.Write, flags, offset, lengthBytes), ...payload];
    if (alone === true) this.writer.sendNow(message);
    else this.writer.send(message);
  }

  flush(): Promise<void> {
    return this.request(Command.Flush, 0, 0, 0, nothing);
  }

  async trim(offset: number, lengthBytes: number, { fua }: WriteOptions): Promise<void> {
    await this.inRanges(Command.Trim, fua ? CommandFlag.Fua : 0, offset, lengthBytes);
  }

  async writeZeroes(offset: number, lengthBytes: number, { fua, mayPunch }: ZeroOptions): Promise<void> {
    const flags = (fua ? CommandFlag.Fua : 0) | (mayPunch ? 0 : CommandFlag.NoHole);
    await this.inRanges(Command.WriteZeroes, flags, offset, lengthBytes);
  }

  async blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    if (!this.terms.blockStatus) return [{ lengthBytes, allocated: true }];
    const flags = extentsMax === 1 ? CommandFlag.RequestOne : 0;
    const asked = Math.min(lengthBytes, RANGE_BYTES_MAX);
    return this.request(Command.BlockStatus, flags, offset, asked, extentsOf);
  }

  /** Disconnects in order; requests in flight fail. */
  close(): void {
    if (this.closed) return;
    this.writer.send([requestHeader(Command.Disconnect, 0, 0, 0, 0)]);
    this.socket.end();
    this.fail(new Error('the connection was closed'));
    // A server that never closes its side must not keep the socket for ever.
    setTimeout(() => this.socket.destroy(), 1000).unref();
  }

  destroy(reason: Error): void {
    this.socket.destroy();
    this.fail(reason);
  }

  private start(rest: Buffer): void {
    const { incoming } = this.connection;
    incoming.receive = (chunk, slab) => this.receive(chunk, slab);
    incoming.destination = () => this.replies.destination;
    incoming.landed = (count) => this.landed(count);
    this.socket.on('error', (error) => this.destroy(error));
    this.socket.on('close', () => this.fail(new Error('the server closed the connection')));
    if (rest.length > 0) this.receive(rest);
    this.socket.resume();
  }

  private async inRanges(
    type: CommandType,
    flags: number,
    offset: number,
    lengthBytes: number,
  ): Promise<void> {
    for (let done = 0; done < lengthBytes; done += RANGE_BYTES_MAX) {
      const asked = Math.min(RANGE_BYTES_MAX, lengthBytes - done);
      await this.request(type, flags, offset + done, asked, nothing);
    }
  }

  /** @param result takes the caller's value from the whole reply, so that a request costs one promise and one record */
  private request<Result>(
    type: CommandType,
    flags: number,
    offset: number,
    lengthBytes: number,
    result: (reply: PendingRequest) => Result,
  ): Promise<Result> {
    if (this.closedBy !== undefined) return Promise.reject(this.closedBy);
    const read = type === Command.Read ? new ReadAssembly(offset, lengthBytes) : undefined;
    return new Promise((resolve, reject) => {
      const pending = new PendingCall(this.time.nowMs(), read, result, resolve, reject);
      this.writer.send([this.header(pending, type, flags, offset, lengthBytes)]);
    });
  }

  /** Notes a request, whose header this is, as pending. */
  private header(
    pending: PendingRequest,
    type: CommandType,
    flags: number,
    offset: number,
    lengthBytes: number,
  ): Buffer {
    return requestHeader(type, flags, this.note(pending), offset, lengthBytes);
  }

  /** Notes a request as pending. @returns its cookie */
  private note(pending: PendingRequest): number {
    const cookie = this.nextCookie;
    this.nextCookie += 1;
    this.pending.set(cookie, pending);
    return cookie;
  }

  private receive(chunk: Buffer, slab?: Slab): void {
    this.queue.push(chunk, slab);
    this.handleReplies();
  }

  private landed(count: number): void {
    this.replies.landed(count);
    this.handleReplies();
  }

  /** Handles what has arrived as a whole. */
  private handleReplies(): void {
    this.movedAtMs = this.time.nowMs();
    try {
      for (let reply = this.replies.next(); reply !== undefined; reply = this.replies.next())
        this.handle(reply);
    } catch (error) {
      this.destroy(asError(error));
    }
  }

  private handle(reply: Reply): void {
    const pending = this.pending.get(reply.cookie);
    if (pending === undefined) throw new ProtocolError('a reply to no request');
    pending.movedAtMs = this.movedAtMs;
    if (reply.kind === 'data') pending.read?.data(reply.offset, reply.payload);
    if (reply.kind === 'hole') pending.read?.hole(reply.offset, reply.lengthBytes);
    if (reply.kind === 'extents') {
      // Only one context is ever requested.
      if (pending.extents !== undefined) throw new ProtocolError('two lists of extents in one reply');
      pending.extents = reply.extents;
    }
    if (reply.kind === 'error') pending.error = new NbdError(reply.errno, reply.message);
    if (reply.kind === 'simple') {
      if (reply.errno !== 0)
        pending.error = new NbdError(reply.errno, `the server answered error ${reply.errno}`);
      else pending.read?.whole(reply.payload);
    } else if (!reply.done) return;
    if (pending.sentAtMs > this.heardAtMs) this.heardAtMs = pending.sentAtMs;
    // Removed first: the listener may end this connection, which completes all pending requests.
    this.pending.delete(reply.cookie);
    try {
      pending.answered();
    } catch (error) {
      pending.failed(asError(error));
      throw error;
    }
  }

  /** Sent bytes count as movement too: on a slow link the server may not have the request yet. */
  private noteSent(nowMs: number): void {
    // The cast: Node has no public way to query how many bytes the kernel has taken.
    const socket = this.socket as { _bytesDispatched?: number; _handle?: { writeQueueSize?: number } | null };
    const sentBytes = (socket._bytesDispatched ?? 0) - (socket._handle?.writeQueueSize ?? 0);
    if (sentBytes > this.sentBytes) this.movedAtMs = nowMs;
    this.sentBytes = sentBytes;
  }

  private fail(reason: Error): void {
    if (this.closedBy !== undefined) return;
    this.closedBy = reason;
    // The memory that bytes are being received into goes back to its owner.
    if (this.replies.isLanding) this.socket.destroy();
    const failed = [...this.pending.values()];
    this.pending.clear();
    for (const handler of this.closeHandlers) handler(reason);
    for (const pending of failed) pending.failed(reason);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new ProtocolError(String(error));
}

function readPayload({ read }: PendingRequest): Payload {
  return read?.finish() ?? NO_PAYLOAD;
}

/** @throws ProtocolError for a reply without extents, with which a caller could make no progress */
function extentsOf({ extents }: PendingRequest): Extent[] {
  if (extents === undefined) throw new ProtocolError('a reply without extents');
  return extents;
}

function nothing(): void {
  // An empty reply: it only confirms the request.
}

function requestHeader(
  type: CommandType,
  flags: number,
  cookie: number,
  offset: number,
  lengthBytes: number,
): Buffer {
  const frame = Buffer.allocUnsafe(REQUEST_BYTES);
  putRequestHeader(frame, 0, type, flags, cookie, offset, lengthBytes);
  return frame;
}

function putRequestHeader(
  frame: Buffer,
  at: number,
  type: CommandType,
  flags: number,
  cookie: number,
  offset: number,
  lengthBytes: number,
): void {
  frame.writeUInt32BE(REQUEST_MAGIC, at);
  frame.writeUInt16BE(flags, at + 4);
  frame.writeUInt16BE(type, at + 6);
  writeUint64(frame, cookie, at + 8);
  writeUint64(frame, offset, at + 16);
  frame.writeUInt32BE(lengthBytes, at + 24);
}
