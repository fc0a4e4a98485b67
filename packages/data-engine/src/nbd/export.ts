/**
 * Interface of an NBD export. The server checks offsets and lengths against the size before any of these is called.
 */

/**
 * Consecutive bytes in several pieces. The receiver must not change them: they may be shared.
 *
 * With a `release`, the memory comes from a pool: the receiver calls it at most once, when nothing uses the bytes any
 * more. Skipping the call is safe: the buffer is then garbage-collected instead of reused.
 */
export type Payload = readonly Buffer[] & { readonly release?: () => void };

/** Consecutive bytes of an export. */
export type ByteSpan = { readonly offset: number; readonly lengthBytes: number };

/** A read whose bytes go to a place of their own. */
export type PlacedRead = { readonly offset: number; readonly buffer: Buffer };

/** A run of bytes with one allocation state. `allocated: false` reads as zeros. */
export type Extent = { lengthBytes: number; allocated: boolean };

export type WriteOptions = {
  fua: boolean;
  /** The client has no other request under way, so that nothing is held up by waiting for the disk. */
  alone?: boolean;
};
/** `mayPunch: false` asks to keep the space allocated. */
export type ZeroOptions = WriteOptions & { mayPunch: boolean };

/** A write on its way from the user's connection to the copies: all of them are given the same record. */
export type NbdWrite = WriteOptions & {
  readonly offset: number;
  readonly lengthBytes: number;
  readonly payload: Payload;
};

/**
 * Listener: receives the end of each write exactly once. One listener serves any number of writes, told apart by tags: on the path of
 * every write that costs less than a promise and its continuations.
 */
export interface WriteListener<Tag> {
  /** Must not throw. @param failure `undefined` for a write that was made */
  written(tag: Tag, failure: unknown): void;
}

/** Export that accepts writes with a listener. */
export type WriteTarget = Required<Pick<NbdExport, 'beginWrite'>>;

export interface NbdExport {
  readonly sizeBytes: number;
  readonly readOnly: boolean;
  /** Writes must be multiples of it. */
  readonly blockSizeMinBytes: number;
  read(offset: number, lengthBytes: number): Promise<Payload>;
  /**
   * The answer of `read`, if it needs no waiting; `undefined` otherwise. With `alone`, the event loop may wait for a fast disk:
   * the client has no other request under way.
   */
  readNow?(offset: number, lengthBytes: number, alone?: boolean): Payload | undefined;
  /**
   * Reads several ranges of one window at once, cheaper than a `read` of each. They are whole blocks, in order, without overlap.
   *
   * @returns the ranges, each as one piece
   */
  readRanges?(ranges: readonly ByteSpan[]): Promise<Payload>;
  write(offset: number, payload: Payload, lengthBytes: number, options: WriteOptions): Promise<void>;
  /** Like `write`, for the path of every write. The listener receives its end, maybe before this returns. */
  beginWrite?<Tag>(write: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void;
  /**
   * Makes a write that needs no waiting. False if it needs some; `write` then makes it. So it does where this throws, and says why
   * if it fails too.
   */
  writeNow?(offset: number, payload: Payload, lengthBytes: number): boolean;
  /** Covers every write that was answered before, on any connection; multi-conn requires that. */
  flush(): Promise<void>;
  trim(offset: number, lengthBytes: number, options: WriteOptions): Promise<void>;
  writeZeroes(offset: number, lengthBytes: number, options: ZeroOptions): Promise<void>;
  /** At least one extent; may cover less than requested, never more. */
  blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]>;
}

/** Passes the outcome of a write with a promise to a listener. */
export function tellWhenEnded<Tag>(write: Promise<void>, listener: WriteListener<Tag>, tag: Tag): void {
  write.then(
    () => listener.written(tag, undefined),
    (error: unknown) => listener.written(tag, error),
  );
}

/** A promise for a write that reports to a listener. */
export function writeBy(target: WriteTarget, write: NbdWrite): Promise<void> {
  return new Promise((resolve, reject) => {
    const written = (_: undefined, failure: unknown) => (failure === undefined ? resolve() : reject(failure));
    target.beginWrite(write, { written }, undefined);
  });
}

/** Consecutive bytes in pooled memory, whose receiver calls `release` when nothing uses them any more. */
export function pooledPayload(pieces: Buffer[], release: () => void): Payload {
  const payload: Buffer[] & { release?: () => void } = pieces;
  // Set as any other property: `Object.assign` takes a slow way through the engine, for each request.
  payload.release = release;
  return payload;
}

export function payloadLength(payload: Payload): number {
  let length = 0;
  for (const piece of payload) length += piece.length;
  return length;
}

/** Copies a payload into memory of its length, and releases it. */
export function moveInto(buffer: Buffer, payload: Payload): void {
  let at = 0;
  for (const piece of payload) at += piece.copy(buffer, at);
  payload.release?.();
}

/** The payload as one contiguous buffer; not copied if it has a single piece. */
export function contiguous(payload: Payload): Buffer {
  const [only] = payload;
  return payload.length === 1 && only !== undefined ? only : Buffer.concat(payload);
}

/** A part of a payload, without copying it. */
export function slicePayload(payload: Payload, start: number, lengthBytes: number): Payload {
  if (start === 0 && lengthBytes === payloadLength(payload)) return payload;
  const pieces: Buffer[] = [];
  let skipped = 0;
  for (const piece of payload) {
    const from = Math.max(0, start - skipped);
    const to = Math.min(piece.length, start + lengthBytes - skipped);
    if (from < to) pieces.push(piece.subarray(from, to));
    skipped += piece.length;
  }
  return pieces;
}
