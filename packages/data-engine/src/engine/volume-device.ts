/**
 * The device that a volume's users see, over its copies: any byte range becomes whole blocks, and what overlaps is
 * applied in the same order everywhere.
 */
import {
  type Extent,
  type NbdExport,
  type Payload,
  payloadLength,
  type WriteOptions,
  type ZeroOptions,
} from '../nbd/export.js';
import { alignDown, alignUp, isAligned } from '../replica/blocks.js';
import { SYSTEM_TIME, type Time } from '../time.js';
import { type Changes, type Copies, isNoSpace } from './copies.js';
import { equaliseRange, undoRefused } from './equalise.js';
import { Flushing } from './flushing.js';
import { RangeLocks } from './range-locks.js';
import { RegionUse } from './region-use.js';
import type { UnequalRanges } from './unequal-ranges.js';
import { widen } from './whole-blocks.js';

export class VolumeDevice implements NbdExport {
  readonly readOnly = false;
  readonly blockSizeMinBytes = 1;
  /** When a change was last begun, on the engine's clock. */
  lastChangeMs: number;
  /** Requests of users so far. */
  requests = 0;
  readonly regions = new RegionUse();
  /** Set while the copies are being made equal: where they may not be yet. */
  unequal: UnequalRanges | undefined;
  private readonly flushing: Flushing;
  private isFlushing = false;
  private readonly locks = new RangeLocks();
  /** What a read has to wait for, and see again where a change was refused meanwhile. */
  private readonly changes: Changes = {
    refused: 0,
    under: (start, end) => this.locks.changed(start, end),
  };

  /** `flushable` is a promise while a flush of the copies would not cover all that was ever acknowledged. */
  constructor(
    private readonly copies: Copies,
    private size: number,
    private readonly flushable: () => Promise<void> | undefined,
    private readonly time: Time = SYSTEM_TIME,
  ) {
    this.lastChangeMs = time.nowMs();
    this.flushing = new Flushing(() => this.copies.change((client) => client.flush()));
  }

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

  /** True while something in the range is being changed, or is to be. */
  isChanging(start: number, end: number): boolean {
    return this.locks.overlaps(start, end);
  }

  read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requests += 1;
    const end = offset + lengthBytes;
    if (this.unequal?.firstIn(offset, end) !== undefined) return this.readEqual(offset, end);
    return this.copies.read(offset, lengthBytes, this.changes);
  }

  write(offset: number, payload: Payload, lengthBytes: number, options: WriteOptions): Promise<void> {
    return this.changeRange(
      alignDown(offset),
      alignUp(offset + lengthBytes),
      () =>
        isAligned(offset, lengthBytes)
          ? this.copies.change((client) => client.write(offset, payload, lengthBytes, options))
          : this.writeWidened(offset, payload, lengthBytes, options),
      offset,
      payload,
    );
  }

  async flush(): Promise<void> {
    const waiting = this.flushable();
    if (waiting !== undefined) await waiting;
    await this.flushCopies();
  }

  /** What the copies have, whether or not it is the same. */
  flushCopies(): Promise<void> {
    return this.flushing.run();
  }

  /** Keeps what no flush has covered small; called a few times a second. */
  tick(nowMs: number): void {
    if (this.isFlushing || !this.flushing.isDue(nowMs)) return;
    this.isFlushing = true;
    void this.flush()
      // Whoever failed was dropped, or says so to the next one who flushes.
      .catch(() => undefined)
      .finally(() => {
        this.isFlushing = false;
      });
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
    const unequal = this.unequal?.firstIn(offset, offset + lengthBytes);
    if (unequal === undefined) return this.copies.blockStatus(offset, lengthBytes, extentsMax);
    // Where one copy says that there is nothing, and another one has something, nobody knows yet what counts.
    if (unequal.start <= offset) return [{ lengthBytes: unequal.end - offset, allocated: true }];
    return this.copies.blockStatus(offset, unequal.start - offset, extentsMax);
  }

  /** What is read where the copies may differ is made equal first: else it could be gone with the copy it was read from. */
  private async readEqual(offset: number, end: number): Promise<Payload> {
    const start = alignDown(offset);
    const read = await this.withRange(start, alignUp(end), () =>
      equaliseRange(this.copies, start, alignUp(end)),
    );
    this.copies.requireServing();
    return [read.subarray(offset - start, end - start)];
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

  /** What the copies have of a change that was refused because all their disks are full. */
  private async takeBack(start: number, end: number, offset = start, payload?: Payload): Promise<void> {
    const lengthBytes = payload === undefined ? end - start : payloadLength(payload);
    try {
      await undoRefused(this.copies, start, end, { offset, payload, lengthBytes });
    } catch (error) {
      this.dropTargets(error);
      throw error;
    }
  }

  /** The only current copy refused it, and may have a part of it; what is being rebuilt from it may have all. */
  private dropTargets(error: unknown): void {
    for (const link of this.copies.withMode('WO')) this.copies.fail(link, error);
  }

  /** Runs a change of the range while nothing else changes it, and leaves the copies equal whatever comes of it. */
  private async changeRange(
    start: number,
    end: number,
    change: () => Promise<void>,
    offset?: number,
    payload?: Payload,
  ): Promise<void> {
    this.lastChangeMs = this.time.nowMs();
    this.regions.note(start, end, this.lastChangeMs);
    this.requests += 1;
    const { waiting, release } = this.locks.take(start, end);
    if (waiting !== undefined) await waiting;
    // Only now: a flush waits for it, and what it waited for may wait for a flush.
    const batch = this.flushing.begin(start, end, this.lastChangeMs);
    try {
      await change();
    } catch (error) {
      this.changes.refused += 1;
      if (isNoSpace(error)) await this.takeBack(start, end, offset, payload);
      else this.dropTargets(error);
      throw error;
    } finally {
      this.flushing.end(batch);
      release();
    }
  }
}
