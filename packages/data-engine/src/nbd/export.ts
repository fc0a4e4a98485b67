/** What an NBD server serves. Offsets and lengths were checked against the size before any of these is called. */

/**
 * Consecutive bytes in several pieces. The receiver must not change them: they may be shared.
 *
 * Where there is a `release`, the memory is used again after it was called: whoever took the payload calls it once, when
 * nothing uses the bytes any more. Who does not call it wastes the memory until it is collected, and harms nobody.
 */
export type Payload = readonly Buffer[] & { readonly release?: () => void };

/** A run of bytes with one allocation state. `allocated: false` reads as zeros. */
export type Extent = { lengthBytes: number; allocated: boolean };

export type WriteOptions = { fua: boolean };
/** `mayPunch: false` asks that the space stays allocated. */
export type ZeroOptions = WriteOptions & { mayPunch: boolean };

export interface NbdExport {
  readonly sizeBytes: number;
  readonly readOnly: boolean;
  /** Writes must be multiples of it. */
  readonly blockSizeMinBytes: number;
  read(offset: number, lengthBytes: number): Promise<Payload>;
  /** What `read` would answer, where that needs no waiting; `undefined` where it does. */
  readNow?(offset: number, lengthBytes: number): Payload | undefined;
  write(offset: number, payload: Payload, lengthBytes: number, options: WriteOptions): Promise<void>;
  /** Covers every write that was answered before, on any connection: that is why multi-conn may be offered. */
  flush(): Promise<void>;
  trim(offset: number, lengthBytes: number, options: WriteOptions): Promise<void>;
  writeZeroes(offset: number, lengthBytes: number, options: ZeroOptions): Promise<void>;
  /** At least one extent; may cover less than asked, never more. */
  blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]>;
}

export function payloadLength(payload: Payload): number {
  let length = 0;
  for (const piece of payload) length += piece.length;
  return length;
}

/** One contiguous buffer: the piece itself where there is only one. */
export function contiguous(payload: Payload): Buffer {
  const [only] = payload;
  return payload.length === 1 && only !== undefined ? only : Buffer.concat(payload);
}
