/**
 * Buffer pool for direct I/O: the kernel transfers between these buffers and the disk without the page cache, and
 * accepts only buffers that begin at a multiple of the disk's block size.
 *
 * They are cut from WebAssembly memories, the one kind of memory that JavaScript can allocate page-aligned. No
 * specification guarantees that, so it is probed on each disk (`direct-io.ts`). Memory that was never written to
 * takes no space.
 */

import { BLOCK_BYTES, MIB, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { type Payload, payloadLength } from '../nbd/export.js';
import { useHugePages } from './huge-pages.js';

/** Alignment of a direct transfer, in bytes: memory address, file offset and length. Enough for any disk. */
export const ALIGNMENT_BYTES = BLOCK_BYTES;
/** Size of the largest pooled buffer, a window of a rebuild; longer transfers use several. */
export const LEASE_BYTES_MAX = WINDOW_BYTES;
/** Size of one memory in bytes: one large buffer, or a thousand small ones. */
const SLAB_BYTES = LEASE_BYTES_MAX;
/** Free bytes that each size class keeps: as much as a burst of large requests needs. */
const KEPT_BYTES_MAX = 32 * MIB;
const WASM_PAGE_BYTES = 65_536;

/** The only part of the API used here. Declared by hand: Node's types leave it to those of browsers. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
};

/** Page-aligned memories: a buffer cut from one is aligned if its offset is. */
const slabs = new WeakSet<ArrayBufferLike>();

/** A buffer on loan from the pool, until it is released. */
export type Lease = {
  readonly buffer: Buffer;
  /**
   * Returns the buffer. At most once, and only when neither the kernel nor a socket can still be using it. Skipping
   * the call is safe: the buffer is then garbage-collected instead of reused.
   */
  release(): void;
};

/** Page-aligned memory outside the pool, filled with zeros; garbage-collected. */
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

/** Free list of one power-of-two size. Last in, first out: the buffer returned last is still in the CPU cache. */
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
    // Only where all of it is used at once: of small buffers few may be, and a huge page holds five hundred of them.
    if (this.sizeBytes === SLAB_BYTES) useHugePages(slab);
    for (let at = this.sizeBytes; at < SLAB_BYTES; at += this.sizeBytes) {
      this.free.push(slab.subarray(at, at + this.sizeBytes));
    }
    return slab.subarray(0, this.sizeBytes);
  }
}

/** Sizes: 4 KiB, 8 KiB … 4 MiB. */
const classes = Array.from({ length: 11 }, (_, index) => new SizeClass(ALIGNMENT_BYTES << index));

/** A buffer for whole blocks. Beyond `LEASE_BYTES_MAX` it is neither aligned nor pooled. */
export function leaseBlocks(lengthBytes: number): Lease {
  if (lengthBytes <= LEASE_BYTES_MAX) return leaseAligned(lengthBytes);
  return { buffer: Buffer.allocUnsafeSlow(lengthBytes), release: () => undefined };
}

/** A buffer of up to `LEASE_BYTES_MAX` bytes, a multiple of `ALIGNMENT_BYTES`. Its content is undefined. */
export function leaseAligned(lengthBytes: number): Lease {
  const index = 32 - Math.clz32((lengthBytes - 1) >>> 12);
  const sizeClass = classes[index];
  if (sizeClass === undefined) throw new RangeError(`no aligned buffer of ${lengthBytes} bytes`);
  return sizeClass.lease(lengthBytes);
}

/** Copies a payload into aligned buffers, as few as possible. Its length has to be a multiple of the alignment. */
export function leaseCopies(payload: Payload): Lease[] {
  const leases: Lease[] = [];
  let missing = payloadLength(payload);
  let lease: Lease | undefined;
  let filled = 0;
  for (const piece of payload) {
    for (let taken = 0; taken < piece.length; ) {
      if (lease === undefined) {
        lease = leaseAligned(Math.min(missing, LEASE_BYTES_MAX));
        leases.push(lease);
        filled = 0;
      }
      const copied = piece.copy(lease.buffer, filled, taken);
      filled += copied;
      taken += copied;
      missing -= copied;
      if (filled === lease.buffer.length) lease = undefined;
    }
  }
  return leases;
}
