/**
 * Reusable buffers for pages that are being sent. A buffer of its own for each page of 130 KB is freed by garbage collection only, which V8
 * then runs four times a second: answers wait for it, and it uses a third of one of two cores.
 */
const BYTES_MIN = 64 * 1024;
/** Kept for reuse: enough for pages of 50 volumes on 32 connections. Further ones are left to garbage collection. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;

export type LentBuffer = {
  readonly bytes: Buffer;
  /** To be called once, when nothing reads the bytes any more. */
  readonly release: () => void;
};

export class PageBuffers {
  /** By size, which is a power of two. */
  private readonly free = new Map<number, Buffer[]>();
  private keptBytes = 0;

  /** @returns a buffer of this length, whose content is undefined */
  lend(lengthBytes: number): LentBuffer {
    const sizeBytes = Math.max(BYTES_MIN, 2 ** Math.ceil(Math.log2(lengthBytes)));
    const known = this.free.get(sizeBytes)?.pop();
    if (known !== undefined) this.keptBytes -= sizeBytes;
    const whole = known ?? Buffer.allocUnsafeSlow(sizeBytes);
    return { bytes: whole.subarray(0, lengthBytes), release: () => this.keep(whole) };
  }

  private keep(whole: Buffer): void {
    if (this.keptBytes + whole.length > KEPT_BYTES_MAX) return;
    this.keptBytes += whole.length;
    const others = this.free.get(whole.length);
    if (others === undefined) this.free.set(whole.length, [whole]);
    else others.push(whole);
  }
}
