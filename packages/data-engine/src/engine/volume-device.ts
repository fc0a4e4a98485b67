/**
 * The device that a volume's users see, over its copies: any byte range becomes whole blocks, and what overlaps is
 * applied in the same order everywhere.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { Extent, NbdExport, Payload, WriteOptions, ZeroOptions } from '../nbd/export.js';
import { alignDown, alignUp, isAligned } from '../replica/blocks.js';
import { type Copies, isNoSpace } from './copies.js';
import { RangeLocks } from './range-locks.js';
import { equaliseRange } from './resync.js';
import { widen } from './whole-blocks.js';

export class VolumeDevice implements NbdExport {
  readonly readOnly = false;
  readonly blockSizeMinBytes = 1;
  /** When a change was last begun, on the clock of `performance.now()`. */
  lastChangeMs = performance.now();
  /** Requests of users so far. */
  requests = 0;
  private readonly locks = new RangeLocks();

  /** `flushable` is a promise while a flush of the copies would not cover all that was ever acknowledged. */
  constructor(
    private readonly copies: Copies,
    private size: number,
    private readonly flushable: () => Promise<void> | undefined,
  ) {}

  get sizeBytes(): number {
    return this.size;
  }

  /** What the smallest copy can hold. Before anything is served. */
  shrinkTo(sizeBytes: number): void {
    this.size = Math.min(this.size, sizeBytes);
  }

  /** Clients that are connected see the new size when they connect again: NBD tells it once. */
  grow(sizeBytes: number): void {
    this.size = Math.max(this.size, sizeBytes);
  }

  /** True while nothing is being changed. */
  get isQuiet(): boolean {
    return this.locks.idle;
  }

  read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requests += 1;
    return this.copies.read(offset, lengthBytes);
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: WriteOptions): Promise<void> {
    return this.changeRange(alignDown(offset), alignUp(offset + lengthBytes), () =>
      isAligned(offset, lengthBytes)
        ? this.copies.change((client) => client.write(offset, payload, lengthBytes, options))
        : this.writeWidened(offset, payload, lengthBytes, options),
    );
  }

  async flush(): Promise<void> {
    const waiting = this.flushable();
    if (waiting !== undefined) await waiting;
    await this.flushCopies();
  }

  /** What the copies have, whether or not it is the same. */
  flushCopies(): Promise<void> {
    return this.copies.change((client) => client.flush());
  }

  async trim(offset: number, lengthBytes: number, options: WriteOptions): Promise<void> {
    // A trim is a permission: parts of blocks at the ends stay as they are.
    const start = alignUp(offset);
    const end = alignDown(offset + lengthBytes);
    if (end <= start) return options.fua ? this.flush() : undefined;
    await this.changeRange(start, end, () =>
      this.copies.change((client) => client.trim(start, end - start, options)),
    );
  }

  async writeZeroes(offset: number, lengthBytes: number, options: ZeroOptions): Promise<void> {
    const start = alignUp(offset);
    const end = alignDown(offset + lengthBytes);
    if (end <= start) return this.write(offset, [Buffer.alloc(lengthBytes)], lengthBytes, options);
    if (offset < start) await this.write(offset, [Buffer.alloc(start - offset)], start - offset, options);
    const rest = offset + lengthBytes - end;
    if (rest > 0) await this.write(end, [Buffer.alloc(rest)], rest, options);
    await this.changeRange(start, end, () =>
      this.copies.change((client) => client.writeZeroes(start, end - start, options)),
    );
  }

  async blockStatus(offset: number, lengthBytes: number, extentsMax: number): Promise<Extent[]> {
    this.copies.requireServing();
    const [link] = this.copies.withMode('RW');
    if (link === undefined) throw new StorageFault('engine.no_replica', { publicMessage: 'no copy is left' });
    return link.client.blockStatus(offset, lengthBytes, extentsMax);
  }

  /** Runs while nothing is being written. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.locks.alone(work);
  }

  /** Runs while nothing else writes to the range. */
  withRange<T>(start: number, end: number, work: () => Promise<T>): Promise<T> {
    return this.locks.withRange(start, end, work);
  }

  private async writeWidened(
    offset: number,
    payload: Payload,
    lengthBytes: number,
    options: WriteOptions,
  ): Promise<void> {
    const read = (at: number, length: number) => this.copies.read(at, length);
    const blocks = await widen(offset, payload, lengthBytes, read);
    await this.copies.change((client) =>
      client.write(blocks.offset, blocks.payload, blocks.lengthBytes, options),
    );
  }

  /** Runs a change of the range while nothing else changes it, and leaves the copies equal whatever comes of it. */
  private async changeRange(start: number, end: number, change: () => Promise<void>): Promise<void> {
    this.lastChangeMs = performance.now();
    this.requests += 1;
    const { waiting, release } = this.locks.take(start, end);
    if (waiting !== undefined) await waiting;
    try {
      await change();
    } catch (error) {
      if (isNoSpace(error)) await equaliseRange(this.copies, start, end);
      throw error;
    } finally {
      release();
    }
  }
}
