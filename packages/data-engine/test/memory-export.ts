import { type Extent, type NbdExport, type Payload, payloadLength } from '../src/nbd/export.js';

/** NBD export in memory, allocated in blocks of 4 KiB, that counts its requests. */
export class MemoryExport implements NbdExport {
  readonly bytes: Buffer;
  readonly allocated: Uint8Array;
  readonly blockSizeMinBytes = 1;
  flushes = 0;
  reads = 0;
  writes = 0;
  /** When set, the next requests fail with this error. */
  failure: Error | undefined;

  constructor(
    readonly sizeBytes: number,
    readonly readOnly = false,
  ) {
    this.bytes = Buffer.alloc(sizeBytes);
    this.allocated = new Uint8Array(sizeBytes / 4096);
  }

  async read(offset: number, lengthBytes: number): Promise<Payload> {
    this.failIfTold();
    this.reads += 1;
    return [Buffer.from(this.bytes.subarray(offset, offset + lengthBytes))];
  }

  async write(offset: number, payload: Payload): Promise<void> {
    this.failIfTold();
    this.writes += 1;
    Buffer.concat(payload).copy(this.bytes, offset);
    this.mark(offset, payloadLength(payload), 1);
  }

  async flush(): Promise<void> {
    this.failIfTold();
    this.flushes += 1;
  }

  async trim(offset: number, lengthBytes: number): Promise<void> {
    this.bytes.fill(0, offset, offset + lengthBytes);
    this.mark(offset, lengthBytes, 0);
  }

  async writeZeroes(offset: number, lengthBytes: number): Promise<void> {
    await this.trim(offset, lengthBytes);
  }

  async blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    const extents: Extent[] = [];
    for (let at = offset; at < offset + lengthBytes; ) {
      const end = Math.min(offset + lengthBytes, (Math.floor(at / 4096) + 1) * 4096);
      const allocated = this.allocated[Math.floor(at / 4096)] === 1;
      const last = extents.at(-1);
      if (last?.allocated === allocated) last.lengthBytes += end - at;
      else if (extents.length === extentsMax) break;
      else extents.push({ lengthBytes: end - at, allocated });
      at = end;
    }
    return extents;
  }

  private mark(offset: number, lengthBytes: number, value: number): void {
    this.allocated.fill(value, Math.floor(offset / 4096), Math.ceil((offset + lengthBytes) / 4096));
  }

  private failIfTold(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}
