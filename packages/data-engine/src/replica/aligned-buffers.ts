/**
 * Buffers for direct I/O: the kernel copies between them and the disk without a page cache in between, and takes only
 * such as begin at a multiple of the disk's block.
 *
 * They are cut from WebAssembly memories, the one kind of memory that JavaScript can have at the start of a page. No
 * specification promises that, so whether it works is tried on each disk (`direct-io.ts`). Memory that was never
 * written to takes no space.
 */

import { MIB } from '@holdfast/core/model/bytes.js';

/** What a direct read or write must be a multiple of in memory, place and length: enough for any disk. */
export const ALIGNMENT_BYTES = 4096;
/** The longest buffer, which is a window of a rebuild; longer transfers use several. */
export const LEASE_BYTES_MAX = 4 * MIB;
/** Bytes of one memory: one large buffer, or a thousand small ones. */
const SLAB_BYTES = LEASE_BYTES_MAX;
/** What each size keeps while nobody uses it: as much as a burst of large requests takes. */
const KEPT_BYTES_MAX = 32 * MIB;
const WASM_PAGE_BYTES = 65_536;

/** The one thing that is used of it: the types of Node leave it to those of browsers. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
};

/** Memories that are page-aligned, so that a buffer's place in one tells whether it is aligned. */
const slabs = new WeakSet<ArrayBufferLike>();

/** An aligned buffer for as long as its holder needs it. */
export type Lease = {
  readonly buffer: Buffer;
  /** At most once, and when neither the kernel nor a socket may still be using the buffer. */
  release(): void;
};

/** Page-aligned zeros that live until nobody holds them any more. */
export function alignedBytes(lengthBytes: number): Buffer {
  const pages = Math.ceil(lengthBytes / WASM_PAGE_BYTES);
  const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages });
  slabs.add(buffer);
  return Buffer.from(buffer, 0, lengthBytes);
}

export function isAlignedBuffer(buffer: Buffer): boolean {
  return (
    buffer.byteOffset % ALIGNMENT_BYTES === 0 &&
    buffer.length % ALIGNMENT_BYTES === 0 &&
    slabs.has(buffer.buffer)
  );
}

/** Buffers of one power-of-two size that are given out again, the last returned first: it is still in the cache. */
class SizeClass {
  private readonly free: Buffer[] = [];

  constructor(private readonly sizeBytes: number) {}

  lease(lengthBytes: number): Lease {
    const whole = this.free.pop() ?? this.grow();
    const buffer = lengthBytes === this.sizeBytes ? whole : whole.subarray(0, lengthBytes);
    return { buffer, release: () => this.takeBack(whole) };
  }

  private takeBack(whole: Buffer): void {
    if (this.free.length * this.sizeBytes < KEPT_BYTES_MAX) this.free.push(whole);
  }

  private grow(): Buffer {
    const slab = alignedBytes(SLAB_BYTES);
    for (let at = this.sizeBytes; at < SLAB_BYTES; at += this.sizeBytes) {
      this.free.push(slab.subarray(at, at + this.sizeBytes));
    }
    return slab.subarray(0, this.sizeBytes);
  }
}

/** 4 KiB, 8 KiB … 4 MiB. */
const classes = Array.from({ length: 11 }, (_, index) => new SizeClass(ALIGNMENT_BYTES << index));

/** Any number of whole blocks in one buffer: past `LEASE_BYTES_MAX` one that is not aligned, and is not kept. */
export function leaseBlocks(lengthBytes: number): Lease {
  if (lengthBytes <= LEASE_BYTES_MAX) return leaseAligned(lengthBytes);
  return { buffer: Buffer.allocUnsafeSlow(lengthBytes), release: () => undefined };
}

/** A buffer of up to `LEASE_BYTES_MAX` bytes, a multiple of `ALIGNMENT_BYTES`. What is in it is anything. */
export function leaseAligned(lengthBytes: number): Lease {
  const index = 32 - Math.clz32((lengthBytes - 1) >>> 12);
  const sizeClass = classes[index];
  if (sizeClass === undefined) throw new RangeError(`no aligned buffer of ${lengthBytes} bytes`);
  return sizeClass.lease(lengthBytes);
}
