/**
 * Queue of bytes that arrived from a socket and were not yet consumed.
 *
 * Payloads are handed out as slices of the chunks they arrived in (zero-copy), so that a write can be forwarded to
 * several replicas as it is. Only a header that straddles two chunks is copied.
 */
export class ByteQueue {
  private chunks: Buffer[] = [];
  private first = 0;
  /** Bytes of the first chunk that are already consumed. */
  private consumed = 0;
  private total = 0;

  get length(): number {
    return this.total;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.chunks.push(chunk);
    this.total += chunk.length;
  }

  /** The next `count` bytes in one piece. The caller has checked `length`. */
  take(count: number): Buffer {
    const head = this.chunks[this.first];
    if (head !== undefined && head.length - this.consumed >= count) {
      const piece = head.subarray(this.consumed, this.consumed + count);
      this.advance(count, head.length);
      return piece;
    }
    return Buffer.concat(this.takePieces(count), count);
  }

  /** The next `count` bytes as slices of what arrived. The caller has checked `length`. */
  takePieces(count: number): Buffer[] {
    const pieces: Buffer[] = [];
    let missing = count;
    while (missing > 0) {
      const head = this.chunks[this.first];
      if (head === undefined) throw new RangeError('took more bytes than had arrived');
      const piece = head.subarray(this.consumed, this.consumed + missing);
      pieces.push(piece);
      missing -= piece.length;
      this.advance(piece.length, head.length);
    }
    return pieces;
  }

  takeAll(): Buffer {
    return this.take(this.total);
  }

  private advance(count: number, headLength: number): void {
    this.total -= count;
    this.consumed += count;
    if (this.consumed < headLength) return;
    this.consumed = 0;
    this.first += 1;
    // Drop consumed chunks in one go: shifting one by one would move the whole list each time.
    if (this.first === this.chunks.length || this.first >= 64) {
      this.chunks = this.chunks.slice(this.first);
      this.first = 0;
    }
  }
}
