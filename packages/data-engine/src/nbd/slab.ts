/**
 * Slab: pooled memory that one connection receives into, and that the holders of its bytes share.
 *
 * Memory outside the JavaScript heap that is allocated anew for each read makes V8 collect the whole heap every few
 * dozen MiB: that took a third of a rebuild's processor time. A slab whose bytes were all released is filled again.
 */
import { KIB, MIB } from '@holdfast/core/model/bytes.js';

/** Slab size, and so the maximum of one read. Bytes that are held keep their whole slab. */
export const SLAB_BYTES = 256 * KIB;
/** Unused slabs that are kept: as much as a burst of large reads needs. */
const KEPT_MAX = (16 * MIB) / SLAB_BYTES;

const kept: Slab[] = [];

export class Slab {
  readonly buffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
  private holders = 0;
  private isRetired = false;

  /** An unused slab, new or from the pool. Its content is undefined. */
  static take(): Slab {
    const slab = kept.pop() ?? new Slab();
    slab.isRetired = false;
    return slab;
  }

  /** True if no byte of it is in use: it may be filled from its start. */
  get isUnused(): boolean {
    return this.holders === 0;
  }

  /**
   * Adds a holder of some of its bytes. One that never calls `release` is safe: the slab is then garbage-collected
   * instead of reused.
   */
  hold(): void {
    this.holders += 1;
  }

  /** Once per `hold`, when that holder's bytes are no longer used. */
  release(): void {
    this.holders -= 1;
    this.keepIfFree();
  }

  /** The connection receives no more bytes into it. */
  retire(): void {
    this.isRetired = true;
    this.keepIfFree();
  }

  private keepIfFree(): void {
    if (this.isRetired && this.holders === 0 && kept.length < KEPT_MAX) kept.push(this);
  }
}
