/** Parser and encoder of transmission-phase frames, for the server. */
import type { ByteQueue } from './byte-queue.js';
import {
  ALLOCATION_CONTEXT_ID,
  AllocationState,
  CHUNK_HEADER_BYTES,
  ChunkFlag,
  ChunkType,
  Command,
  PAYLOAD_BYTES_MAX,
  REQUEST_BYTES,
  REQUEST_MAGIC,
  SIMPLE_REPLY_BYTES,
  SIMPLE_REPLY_MAGIC,
  STRUCTURED_REPLY_MAGIC,
} from './constants.js';
import { ProtocolError } from './errors.js';
import type { Extent, Payload } from './export.js';
import { readUint64, writeUint64 } from './handshake-frames.js';

export type NbdRequest = {
  flags: number;
  type: number;
  /** The client's request id, echoed in the reply, as two halves. */
  cookie: readonly [number, number];
  offset: number;
  lengthBytes: number;
  /** Empty unless it is a WRITE. */
  payload: Payload;
};

const NO_PAYLOAD: Payload = [];

/** Cuts requests out of a byte stream. A request is handed out only when its payload is complete. */
export class RequestReader {
  /** The request whose header has been read, and whose payload may not be complete. */
  private begun: NbdRequest | undefined;

  constructor(private readonly queue: ByteQueue) {}

  /** @throws ProtocolError when the stream is invalid and can't be parsed any further. */
  next(): NbdRequest | undefined {
    this.begun ??= this.readHeader();
    const request = this.begun;
    if (request === undefined) return undefined;
    if (request.type === Command.Write) {
      if (this.queue.length < request.lengthBytes) return undefined;
      request.payload = this.queue.takePayload(request.lengthBytes);
    }
    this.begun = undefined;
    return request;
  }

  private readHeader(): NbdRequest | undefined {
    if (this.queue.length < REQUEST_BYTES) return undefined;
    const frame = this.queue.take(REQUEST_BYTES);
    if (frame.readUInt32BE(0) !== REQUEST_MAGIC) throw new ProtocolError('a request has the wrong magic');
    const type = frame.readUInt16BE(6);
    const lengthBytes = frame.readUInt32BE(24);
    if (type === Command.Write && lengthBytes > PAYLOAD_BYTES_MAX) {
      // Closes instead of skipping the payload: a client that sends this ignores the limit it was told.
      throw new ProtocolError(`a write of ${lengthBytes} bytes`);
    }
    return {
      flags: frame.readUInt16BE(4),
      type,
      cookie: [frame.readUInt32BE(8), frame.readUInt32BE(12)],
      offset: readUint64(frame, 16),
      lengthBytes,
      payload: NO_PAYLOAD,
    };
  }
}

export function simpleReply(cookie: NbdRequest['cookie'], errno: number): Buffer {
  const frame = Buffer.allocUnsafe(SIMPLE_REPLY_BYTES);
  frame.writeUInt32BE(SIMPLE_REPLY_MAGIC, 0);
  frame.writeUInt32BE(errno, 4);
  frame.writeUInt32BE(cookie[0], 8);
  frame.writeUInt32BE(cookie[1], 12);
  return frame;
}

/** A reply's only chunk: its header, then `extra` bytes of room for the chunk's own fields. */
function chunk(cookie: NbdRequest['cookie'], type: number, lengthBytes: number, fieldBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(CHUNK_HEADER_BYTES + fieldBytes);
  frame.writeUInt32BE(STRUCTURED_REPLY_MAGIC, 0);
  frame.writeUInt16BE(ChunkFlag.Done, 4);
  frame.writeUInt16BE(type, 6);
  frame.writeUInt32BE(cookie[0], 8);
  frame.writeUInt32BE(cookie[1], 12);
  frame.writeUInt32BE(lengthBytes, 16);
  return frame;
}

/** Header of a data chunk; the data itself follows unchanged. */
export function dataChunkHeader(request: NbdRequest): Buffer {
  const frame = chunk(request.cookie, ChunkType.OffsetData, 8 + request.lengthBytes, 8);
  writeUint64(frame, request.offset, CHUNK_HEADER_BYTES);
  return frame;
}

export function errorChunk(cookie: NbdRequest['cookie'], errno: number, message: string): Buffer {
  const text = Buffer.from(message.slice(0, 512), 'utf8');
  const frame = chunk(cookie, ChunkType.Error, 6 + text.length, 6);
  frame.writeUInt32BE(errno, CHUNK_HEADER_BYTES);
  frame.writeUInt16BE(text.length, CHUNK_HEADER_BYTES + 4);
  return Buffer.concat([frame, text]);
}

export function blockStatusChunk(cookie: NbdRequest['cookie'], extents: readonly Extent[]): Buffer {
  const fieldBytes = 4 + 8 * extents.length;
  const frame = chunk(cookie, ChunkType.BlockStatus, fieldBytes, fieldBytes);
  frame.writeUInt32BE(ALLOCATION_CONTEXT_ID, CHUNK_HEADER_BYTES);
  let at = CHUNK_HEADER_BYTES + 4;
  for (const { lengthBytes, allocated } of extents) {
    frame.writeUInt32BE(lengthBytes, at);
    frame.writeUInt32BE(allocated ? 0 : AllocationState.Hole | AllocationState.Zero, at + 4);
    at += 8;
  }
  return frame;
}
