/** Parser of transmission-phase replies, for the client. */
import { KIB } from '@holdfast/core/model/bytes.js';
import type { ByteQueue } from './byte-queue.js';
import {
  AllocationState,
  CHUNK_HEADER_BYTES,
  ChunkFlag,
  ChunkType,
  PAYLOAD_BYTES_MAX,
  SIMPLE_REPLY_BYTES,
  SIMPLE_REPLY_MAGIC,
  STRUCTURED_REPLY_MAGIC,
} from './constants.js';
import { ProtocolError } from './errors.js';
import { type Extent, moveInto, type Payload } from './export.js';
import { readUint64 } from './handshake-frames.js';
import type { ReadAssembly } from './read-assembly.js';

export type Reply =
  | { kind: 'simple'; cookie: number; errno: number; payload: Payload }
  | { kind: 'data'; cookie: number; done: boolean; offset: number; payload: Payload }
  /** Data that lies in its read's own memory already. */
  | { kind: 'landed'; cookie: number; done: boolean }
  | { kind: 'hole'; cookie: number; done: boolean; offset: number; lengthBytes: number }
  | { kind: 'extents'; cookie: number; done: boolean; extents: Extent[] }
  | { kind: 'error'; cookie: number; done: boolean; errno: number; message: string }
  | { kind: 'none'; cookie: number; done: boolean };

/**
 * Maximum length of a chunk. The extent list of the longest request, in the smallest blocks, is far below a full
 * payload.
 */
const CHUNK_BYTES_MAX = PAYLOAD_BYTES_MAX + 64;

/** Below this, bytes are received with those behind them, and copied. */
const DIRECT_BYTES_MIN = 64 * KIB;

/** Header of a chunk of data: the position of its bytes. */
const OFFSET_BYTES = 8;

type Header = { structured: boolean; cookie: number; word: number; flags: number; type: number };

/** A chunk whose data goes to its read's own memory. */
type Landing = { readonly reply: Reply; rest: Buffer };

export class ReplyReader {
  private header: Header | undefined;
  private landing: Landing | undefined;

  /** @param readOf the READ that is answered; `undefined` for any other request */
  constructor(
    private readonly queue: ByteQueue,
    private readonly readOf: (cookie: number) => ReadAssembly | undefined,
  ) {}

  /** A chunk's data is on its way to its read's own memory. */
  get isLanding(): boolean {
    return this.landing !== undefined;
  }

  /** Where the next bytes from the socket belong, while so much of a chunk's data is missing that a call for it alone pays. */
  get destination(): Buffer | undefined {
    const rest = this.landing?.rest;
    return rest !== undefined && rest.length >= DIRECT_BYTES_MIN ? rest : undefined;
  }

  /** So many bytes were received right into the destination. */
  landed(count: number): void {
    if (this.landing !== undefined) this.landing.rest = this.landing.rest.subarray(count);
  }

  /** @throws ProtocolError when the stream is invalid and can't be parsed any further. */
  next(): Reply | undefined {
    if (this.landing !== undefined) return this.land(this.landing);
    this.header ??= this.readHeader();
    if (this.header === undefined) return undefined;
    const { header } = this;
    const bodyBytes = header.structured ? header.word : this.simplePayloadBytes(header);
    if (bodyBytes > CHUNK_BYTES_MAX) throw new ProtocolError(`a reply of ${bodyBytes} bytes`);
    this.landing = this.beginLanding(header, bodyBytes);
    if (this.landing !== undefined) return this.land(this.landing);
    if (this.queue.length < bodyBytes) return undefined;
    this.header = undefined;
    if (header.structured) return this.readChunk(header, bodyBytes);
    const payload = this.queue.takePayload(bodyBytes);
    return { kind: 'simple', cookie: header.cookie, errno: header.word, payload };
  }

  private simplePayloadBytes({ cookie, word: errno }: Header): number {
    return errno === 0 ? (this.readOf(cookie)?.lengthBytes ?? 0) : 0;
  }

  /** From here on the chunk's bytes need not wait for its last one: each has its place. */
  private beginLanding({ structured, type, flags, cookie }: Header, bodyBytes: number): Landing | undefined {
    if (!structured || type !== ChunkType.OffsetData || bodyBytes < OFFSET_BYTES) return undefined;
    const read = this.readOf(cookie);
    if (read?.memory === undefined || this.queue.length < OFFSET_BYTES) return undefined;
    this.header = undefined;
    const offset = readUint64(this.queue.take(OFFSET_BYTES), 0);
    const lengthBytes = bodyBytes - OFFSET_BYTES;
    const at = read.place(offset, lengthBytes);
    const reply: Reply = { kind: 'landed', cookie, done: (flags & ChunkFlag.Done) !== 0 };
    return { reply, rest: read.memory.subarray(at, at + lengthBytes) };
  }

  private land(landing: Landing): Reply | undefined {
    const count = Math.min(this.queue.length, landing.rest.length);
    moveInto(landing.rest, this.queue.takePayload(count));
    landing.rest = landing.rest.subarray(count);
    if (landing.rest.length > 0) return undefined;
    this.landing = undefined;
    return landing.reply;
  }

  private readHeader(): Header | undefined {
    if (this.queue.length < SIMPLE_REPLY_BYTES) return undefined;
    if (this.pendingStructured === undefined) {
      const frame = this.queue.take(SIMPLE_REPLY_BYTES);
      const magic = frame.readUInt32BE(0);
      if (magic === SIMPLE_REPLY_MAGIC) {
        const cookie = readUint64(frame, 8);
        return { structured: false, cookie, word: frame.readUInt32BE(4), flags: 0, type: 0 };
      }
      if (magic !== STRUCTURED_REPLY_MAGIC) throw new ProtocolError('a reply has the wrong magic');
      this.pendingStructured = frame;
    }
    if (this.queue.length < CHUNK_HEADER_BYTES - SIMPLE_REPLY_BYTES) {
      // Copied: by the time the rest arrives, other bytes may have taken the memory of these.
      this.pendingStructured = Buffer.from(this.pendingStructured);
      return undefined;
    }
    const frame = this.pendingStructured;
    this.pendingStructured = undefined;
    return {
      structured: true,
      flags: frame.readUInt16BE(4),
      type: frame.readUInt16BE(6),
      cookie: readUint64(frame, 8),
      word: this.queue.take(CHUNK_HEADER_BYTES - SIMPLE_REPLY_BYTES).readUInt32BE(0),
    };
  }

  /** The first part of a structured header, which is longer than a simple reply. */
  private pendingStructured: Buffer | undefined;

  private readChunk(header: Header, bodyBytes: number): Reply {
    const { cookie, type } = header;
    const done = (header.flags & ChunkFlag.Done) !== 0;
    if (type === ChunkType.OffsetData && bodyBytes >= OFFSET_BYTES) {
      const offset = readUint64(this.queue.take(OFFSET_BYTES), 0);
      return {
        kind: 'data',
        cookie,
        done,
        offset,
        payload: this.queue.takePayload(bodyBytes - OFFSET_BYTES),
      };
    }
    const body = this.queue.take(bodyBytes);
    if (type === ChunkType.OffsetHole && bodyBytes === 12) {
      return { kind: 'hole', cookie, done, offset: readUint64(body, 0), lengthBytes: body.readUInt32BE(8) };
    }
    if (type === ChunkType.BlockStatus) return { kind: 'extents', cookie, done, extents: readExtents(body) };
    if (type === ChunkType.None && bodyBytes === 0) return { kind: 'none', cookie, done };
    if (type >= 0x8000 && bodyBytes >= 6) {
      const message = body.toString('utf8', 6, Math.min(6 + body.readUInt16BE(4), body.length));
      return { kind: 'error', cookie, done, errno: body.readUInt32BE(0), message };
    }
    throw new ProtocolError(`an unexpected chunk of type ${type} and ${bodyBytes} bytes`);
  }
}

function readExtents(body: Buffer): Extent[] {
  if (body.length < 12 || (body.length - 4) % 8 !== 0) throw new ProtocolError('a malformed extent list');
  const extents: Extent[] = [];
  for (let at = 4; at < body.length; at += 8) {
    const state = body.readUInt32BE(at + 4);
    const lengthBytes = body.readUInt32BE(at);
    // A caller that walks a device by its extents would never make progress.
    if (lengthBytes === 0) throw new ProtocolError('an empty extent');
    extents.push({ lengthBytes, allocated: (state & AllocationState.Hole) === 0 });
  }
  return extents;
}
