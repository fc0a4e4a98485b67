/**
 * Queue of bytes that arrived from a socket and were not yet consumed.
 *
 * Payloads are handed out as slices of the chunks they arrived in (zero-copy), so that a write can be forwarded to
 * several replicas as it is. Only a header that straddles two chunks is copied.
 */
import { type Payload, pooledPayload } from './export.js';
import type { Slab } from './slab.js';

export class ByteQueue {
  private chunks: Buffer[] = [];
  /** The slab of each chunk; `undefined` for memory that is not pooled. */
  private slabs: (Slab | undefined)[] = [];
  private first = 0;
  /** Bytes of the first chunk that are already consumed. */
  private consumed = 0;
  private total = 0;

  get length(): number {
    return this.total;
  }

  /** @param slab held for the chunk; released when the chunk is consumed */
  push(chunk: Buffer, slab?: Slab): void {
    if (chunk.length === 0) {
      slab?.release();
      return;
    }
    this.chunks.push(chunk);
    this.slabs.push(slab);
    this.total += chunk.length;
  }

  /**
   * The next `count` bytes in one piece. The caller has checked `length`, and uses the bytes before anything else can
   * arrive: the memory may be filled again then.
   */
  take(count: number): Buffer {
    const head = this.chunks[this.first];
    if (head !== undefined && head.length - this.consumed >= count) {
      const piece = head.subarray(this.consumed, this.consumed + count);
      this.advance(count, head.length);
      return piece;
    }
    const pieces = this.takePayload(count);
    const whole = Buffer.concat(pieces, count);
    pieces.release?.();
    return whole;
  }

  /** The next `count` bytes as slices of what arrived, for as long as they are used. The caller has checked `length`. */
  takePayload(count: number): Payload {
    const pieces: Buffer[] = [];
    const held: Slab[] = [];
    let missing = count;
    while (missing > 0) {
      const head = this.chunks[this.first];
      if (head === undefined) throw new RangeError('took more bytes than had arrived');
      const piece = head.subarray(this.consumed, this.consumed + missing);
      const slab = this.slabs[this.first];
      if (slab !== undefined) {
        slab.hold();
        held.push(slab);
      }
      pieces.push(piece);
      missing -= piece.length;
      this.advance(piece.length, head.length);
    }
    if (held.length === 0) return pieces;
    const release = () => {
      for (const slab of held.splice(0)) slab.release();
    };
    return pooledPayload(pieces, release);
  }

  takeAll(): Buffer {
    return this.take(this.total);
  }

  private advance(count: number, headLength: number): void {
    this.total -= count;
    this.consumed += count;
    if (this.consumed < headLength) return;
    this.consumed = 0;
    this.slabs[this.first]?.release();
    this.first += 1;
    // Drops consumed chunks together: shifting one by one would move the whole list each time.
    if (this.first === this.chunks.length || this.first >= 64) {
      this.chunks = this.chunks.slice(this.first);
      this.slabs = this.slabs.slice(this.first);
      this.first = 0;
    }
  }
}
