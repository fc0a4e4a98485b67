/**
 * Transmission phase of one NBD connection, on the server's side.
 *
 * Requests run concurrently and are answered as they finish. What a client can make this process hold is bounded:
 * reading from the socket pauses while too many requests, or too many bytes of payload and unread replies, are
 * pending.
 */
import type { Socket } from 'node:net';
import { MIB } from '@holdfast/core/model/bytes.js';
import { Bug } from '@holdfast/core/model/faults.js';
import { adjacentCount, countInWindow, joined } from './adjacent-requests.js';
import { ByteQueue } from './byte-queue.js';
import { Command, CommandFlag, NbdErrno, PAYLOAD_BYTES_MAX } from './constants.js';
import { CorkedWriter } from './corked-writer.js';
import { errnoOf, NbdError, ProtocolError } from './errors.js';
import {
  type NbdExport,
  type Payload,
  payloadLength,
  pooledPayload,
  slicePayload,
  type WriteListener,
} from './export.js';
import type { Incoming } from './incoming.js';
import {
  blockStatusChunk,
  dataChunkHeader,
  errorChunk,
  type NbdRequest,
  RequestReader,
  simpleReply,
} from './requests.js';
import { SLAB_BYTES, Slab } from './slab.js';
import { takeOver } from './taken-over.js';

/** More than any client keeps in flight; beyond it the socket is not read. Those that begin as one may pass it, once over at most. */
const REQUESTS_IN_FLIGHT_MAX = 256;
/** Room for two of the largest requests, so that one can arrive while one is served. */
const BYTES_IN_FLIGHT_MAX = 2 * PAYLOAD_BYTES_MAX;
/** Maximum bytes of unread replies: beyond it the client's requests wait. */
const UNSENT_BYTES_MAX = 16 * MIB;
/** Maximum extents in one reply; the client asks again for the rest. */
const EXTENTS_MAX = 4096;

export type ConnectionOptions = { structuredReplies: boolean; allocationContext: boolean };

export class NbdServerConnection {
  private readonly queue = new ByteQueue();
  private readonly reader = new RequestReader(this.queue);
  private readonly socket: Socket;
  private readonly incoming: Incoming;
  /** Bytes that had arrived before the connection was taken over. */
  private readonly early: Buffer;
  private readonly writer: CorkedWriter;
  /** Requests that arrived, and wait for room: one chunk of the network may bring thousands. */
  private waiting: NbdRequest[] = [];
  private requestsInFlight = 0;
  private bytesInFlight = 0;
  private closing = false;
  /** Requests are being started: one may end before the next one begins. */
  private isBeginning = false;

  constructor(
    accepted: Socket,
    private readonly target: NbdExport,
    private readonly options: ConnectionOptions,
  ) {
    const { socket, incoming, early } = takeOver(accepted);
    this.socket = socket;
    this.incoming = incoming;
    this.early = early;
    this.writer = new CorkedWriter(socket, () => this.requestsInFlight);
  }

  /**
   * @param reply ends the handshake
   * @param initial bytes that arrived with the handshake's last option
   */
  start(reply: Buffer, initial: Buffer): void {
    this.socket.setNoDelay(true);
    this.incoming.receive = (chunk) => this.receive(chunk);
    this.socket.on('drain', () => this.resumeWhenRoom());
    // A reset by the client ends this connection only.
    this.socket.on('error', () => this.socket.destroy());
    this.socket.on('end', () => this.close());
    this.socket.write(reply);
    for (const chunk of [initial, this.early]) if (chunk.length > 0) this.receive(chunk);
    // Unless what had arrived already is as much as may wait.
    if (!this.isHeldUp()) this.socket.resume();
  }

  /** Bytes of replies that the client has not taken yet. */
  get unsentBytes(): number {
    return this.writer.queuedBytes;
  }

  private receive(chunk: Buffer): void {
    if (this.closing) return;
    this.queue.push(chunk);
    let broken: ProtocolError | undefined;
    try {
      // Parses all frames of a chunk before the first is served, so that their work starts together.
      for (let next = this.reader.next(); next !== undefined; next = this.reader.next())
        this.waiting.push(next);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      broken = error;
    }
    this.beginWaiting();
    if (broken !== undefined) this.socket.destroy();
    else if (this.isHeldUp()) this.socket.pause();
  }

  private isHeldUp(): boolean {
    return this.waiting.length > 0 || this.isFull();
  }

  /** Starts waiting requests in order, as far as there is room. */
  private beginWaiting(): void {
    let begun = 0;
    this.isBeginning = true;
    while (!this.closing && !this.isFull()) {
      const first = this.waiting[begun];
      if (first === undefined) break;
      begun += this.beginFrom(first, begun);
    }
    this.isBeginning = false;
    if (this.closing) this.waiting = [];
    else if (begun > 0) this.waiting = this.waiting.slice(begun);
  }

  /** Starts one request, and those behind it that can be served with it. @returns how many */
  private beginFrom(first: NbdRequest, index: number): number {
    const inWindow = this.target.readRanges === undefined ? 1 : countInWindow(this.waiting, index);
    const count = inWindow > 1 ? inWindow : adjacentCount(this.waiting, index);
    if (count === 1) {
      this.begin(first);
      return 1;
    }
    const requests = [first, ...this.waiting.slice(index + 1, index + count)] as const;
    if (inWindow > 1) this.beginRanges(requests);
    else this.beginJoined(requests);
    return count;
  }

  private begin(request: NbdRequest): void {
    if (request.type === Command.Disconnect) {
      this.close();
      return;
    }
    const isAlone = this.requestsInFlight === 0 && this.waiting.length === 1;
    const inMemory = this.readNow(request, isAlone);
    if (inMemory !== undefined) {
      this.replyData(request, inMemory, isAlone);
      return;
    }
    if (this.writtenNow(request)) {
      this.replyDone(request, isAlone);
      return;
    }
    this.hold(request);
    this.run(request, isAlone);
  }

  private hold(request: NbdRequest): void {
    this.requestsInFlight += 1;
    this.bytesInFlight += heldBytes(request);
  }

  private run(request: NbdRequest, isAlone: boolean): void {
    const { target } = this;
    if (request.type === Command.Write && target.beginWrite !== undefined) this.beginWrite(request, isAlone);
    else this.runByPromise(request, isAlone);
  }

  private beginWrite(request: NbdRequest, alone: boolean): void {
    const { offset, lengthBytes, payload } = request;
    try {
      this.check(request);
    } catch (error) {
      this.written.written(request, error);
      return;
    }
    const fua = (request.flags & CommandFlag.Fua) !== 0;
    this.target.beginWrite?.({ offset, lengthBytes, payload, fua, alone }, this.written, request);
  }

  private readonly written: WriteListener<NbdRequest> = {
    written: (request, failure) => {
      if (failure === undefined) this.replyDone(request, this.requestsInFlight === 1);
      else this.replyError(request, failure);
      this.finish(request);
    },
  };

  private runByPromise(request: NbdRequest, isAlone: boolean): void {
    this.serve(request, isAlone).then(
      () => this.finish(request),
      (error: unknown) => {
        this.replyError(request, error);
        this.finish(request);
      },
    );
  }

  /** Adjacent requests as one. If that fails, the device is asked for each of them: an error is answered to its own request. */
  private beginJoined(requests: readonly [NbdRequest, ...NbdRequest[]]): void {
    const whole = joined(requests);
    const inMemory = this.readNow(whole, false);
    if (inMemory !== undefined) {
      this.replyParts(requests, inMemory);
      return;
    }
    if (this.writtenNow(whole)) {
      for (const { cookie } of requests) this.writer.send([simpleReply(cookie, NbdErrno.None)]);
      return;
    }
    for (const request of requests) this.hold(request);
    this.serveJoined(whole).then(
      (payload) => {
        if (payload !== undefined) this.replyParts(requests, payload);
        else for (const { cookie } of requests) this.writer.send([simpleReply(cookie, NbdErrno.None)]);
        for (const request of requests) this.finish(request);
      },
      () => {
        for (const request of requests) this.run(request, false);
      },
    );
  }

  /** @returns what was read; `undefined` for a write */
  private async serveJoined(whole: NbdRequest): Promise<Payload | undefined> {
    const { type, offset, lengthBytes, payload } = whole;
    this.check(whole);
    if (type === Command.Read) return this.target.read(offset, lengthBytes);
    await this.target.write(offset, payload, lengthBytes, { fua: false });
    return undefined;
  }

  /** Reads of one window at once. If that fails, the device is asked for each of them, as above. */
  private beginRanges(requests: readonly NbdRequest[]): void {
    for (const request of requests) this.hold(request);
    // Gaps between them may take memory too, until they are read.
    const gapBytes = gapBytesIn(requests);
    this.bytesInFlight += gapBytes;
    this.readRanges(requests).then(
      (payload) => {
        this.bytesInFlight -= gapBytes;
        this.replyRanges(requests, payload);
        for (const request of requests) this.finish(request);
      },
      () => {
        this.bytesInFlight -= gapBytes;
        for (const request of requests) this.run(request, false);
      },
    );
  }

  private replyRanges(requests: readonly NbdRequest[], payload: Payload): void {
    const replies = requests.flatMap((request, index) => [
      this.dataHeader(request),
      ...payload.slice(index, index + 1),
    ]);
    if (payloadLength(replies) > SLAB_BYTES) {
      this.writer.send(replies, payload.release);
      return;
    }
    // One message costs less than a piece of its own for each of a few blocks.
    const slab = Slab.take();
    slab.hold();
    slab.retire();
    let lengthBytes = 0;
    for (const piece of replies) lengthBytes += piece.copy(slab.buffer, lengthBytes);
    payload.release?.();
    this.writer.send([slab.buffer.subarray(0, lengthBytes)], () => slab.release());
  }

  private async readRanges(requests: readonly NbdRequest[]): Promise<Payload> {
    for (const request of requests) this.check(request);
    const read = await this.target.readRanges?.(requests);
    if (read?.length !== requests.length) throw new Bug('ranges were asked for, and others read');
    return read;
  }

  private replyParts(requests: readonly NbdRequest[], payload: Payload): void {
    let start = 0;
    for (const [index, request] of requests.entries()) {
      const part = [...slicePayload(payload, start, request.lengthBytes)];
      start += request.lengthBytes;
      // Replies leave in this order, so none before the last one needs the memory any more.
      const { release } = payload;
      const isLast = index === requests.length - 1;
      this.replyData(request, isLast && release !== undefined ? pooledPayload(part, release) : part);
    }
  }

  /** The answer to a READ that needs no waiting. Errors of a request are reported by `serve`. */
  private readNow(request: NbdRequest, isAlone: boolean): Payload | undefined {
    if (request.type !== Command.Read || this.target.readNow === undefined) return undefined;
    try {
      this.check(request);
      return this.target.readNow(request.offset, request.lengthBytes, isAlone);
    } catch {
      return undefined;
    }
  }

  /** Makes a WRITE that needs no waiting. Errors of a request are reported by `serve`. */
  private writtenNow(request: NbdRequest): boolean {
    const { type, flags, offset, lengthBytes, payload } = request;
    if (type !== Command.Write || (flags & CommandFlag.Fua) !== 0 || this.target.writeNow === undefined)
      return false;
    try {
      this.check(request);
      return this.target.writeNow(offset, payload, lengthBytes);
    } catch {
      return false;
    }
  }

  private async serve(request: NbdRequest, alone: boolean): Promise<void> {
    const { offset, lengthBytes } = request;
    this.check(request);
    const fua = (request.flags & CommandFlag.Fua) !== 0;
    switch (request.type) {
      case Command.Read:
        return this.replyData(request, await this.target.read(offset, lengthBytes));
      case Command.Write:
        await this.target.write(offset, request.payload, lengthBytes, { fua, alone });
        break;
      case Command.Flush:
        await this.target.flush();
        break;
      case Command.Trim:
        await this.target.trim(offset, lengthBytes, { fua });
        break;
      case Command.WriteZeroes: {
        const mayPunch = (request.flags & CommandFlag.NoHole) === 0;
        await this.target.writeZeroes(offset, lengthBytes, { fua, mayPunch });
        break;
      }
      case Command.BlockStatus:
        return this.replyBlockStatus(request);
      default:
        throw new NbdError(NbdErrno.Invalid, `unknown command ${request.type}`);
    }
    this.replyDone(request, this.requestsInFlight === 1);
  }

  /** @param isLast no other answer follows in this turn */
  private replyDone({ cookie }: NbdRequest, isLast: boolean): void {
    const reply = [simpleReply(cookie, NbdErrno.None)];
    if (isLast) this.writer.sendNow(reply);
    else this.writer.send(reply);
  }

  /** Rejects an invalid request before any of it is done. */
  private check({ type, offset, lengthBytes }: NbdRequest): void {
    if (type === Command.Flush || type === Command.Disconnect) return;
    const changes = type === Command.Write || type === Command.Trim || type === Command.WriteZeroes;
    if (changes && this.target.readOnly) throw new NbdError(NbdErrno.Perm, 'the export is read-only');
    if (type === Command.BlockStatus && !this.options.allocationContext) {
      throw new NbdError(NbdErrno.Invalid, 'no metadata context was negotiated');
    }
    if (type === Command.Read && lengthBytes > PAYLOAD_BYTES_MAX) {
      throw new NbdError(NbdErrno.Overflow, `at most ${PAYLOAD_BYTES_MAX} bytes in one request`);
    }
    if (lengthBytes === 0) throw new NbdError(NbdErrno.Invalid, 'an empty request');
    if (offset + lengthBytes > this.target.sizeBytes) {
      const errno =
        type === Command.Write || type === Command.WriteZeroes ? NbdErrno.NoSpace : NbdErrno.Invalid;
      throw new NbdError(errno, 'past the end of the device');
    }
  }

  private replyData(request: NbdRequest, payload: Payload, isLast = false): void {
    const header = this.dataHeader(request);
    if (isLast) this.writer.sendNow([header, ...payload], payload.release);
    else this.writer.send([header, ...payload], payload.release);
  }

  private dataHeader(request: NbdRequest): Buffer {
    return this.options.structuredReplies
      ? dataChunkHeader(request)
      : simpleReply(request.cookie, NbdErrno.None);
  }

  private async replyBlockStatus(request: NbdRequest): Promise<void> {
    const extentsMax = (request.flags & CommandFlag.RequestOne) === 0 ? EXTENTS_MAX : 1;
    const extents = await this.target.blockStatus(request.offset, request.lengthBytes, extentsMax);
    this.writer.send([blockStatusChunk(request.cookie, extents)]);
  }

  private replyError(request: NbdRequest, error: unknown): void {
    const errno = errnoOf(error);
    const message = error instanceof Error ? error.message : 'failed';
    this.writer.send([
      this.options.structuredReplies
        ? errorChunk(request.cookie, errno, message)
        : simpleReply(request.cookie, errno),
    ]);
  }

  private finish(request: NbdRequest): void {
    this.requestsInFlight -= 1;
    this.bytesInFlight -= heldBytes(request);
    if (this.closing) this.endWhenIdle();
    else this.resumeWhenRoom();
  }

  private isFull(): boolean {
    return (
      this.requestsInFlight >= REQUESTS_IN_FLIGHT_MAX ||
      this.bytesInFlight >= BYTES_IN_FLIGHT_MAX ||
      this.unsentBytes >= UNSENT_BYTES_MAX
    );
  }

  private resumeWhenRoom(): void {
    if (this.isBeginning || this.closing || this.isFull()) return;
    if (this.waiting.length > 0) this.beginWaiting();
    if (this.waiting.length === 0 && this.socket.isPaused() && !this.isFull()) this.socket.resume();
  }

  /** Lets pending requests finish and be answered, then ends the connection. */
  private close(): void {
    this.closing = true;
    this.endWhenIdle();
  }

  private endWhenIdle(): void {
    // Resumed so that the client's end is noticed; further bytes are ignored.
    this.socket.resume();
    if (this.requestsInFlight === 0 && !this.socket.destroyed) this.socket.end();
  }
}

function heldBytes({ type, lengthBytes }: NbdRequest): number {
  return type === Command.Write || type === Command.Read ? Math.min(lengthBytes, PAYLOAD_BYTES_MAX) : 0;
}

/** Bytes between requests that are in order. */
function gapBytesIn(requests: readonly NbdRequest[]): number {
  const [first, last] = [requests[0], requests.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const wantedBytes = requests.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
  return last.offset + last.lengthBytes - first.offset - wantedBytes;
}
