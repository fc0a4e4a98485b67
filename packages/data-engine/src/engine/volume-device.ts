/**
 * Block device of a volume, as its clients see it: widens byte ranges to whole blocks, and applies overlapping
 * changes in the same order on all copies.
 */

import { SYSTEM_TIME, type Time } from '../base/time.js';
import {
  type Extent,
  type NbdExport,
  type Payload,
  payloadLength,
  type WriteOptions,
  type ZeroOptions,
} from '../nbd/export.js';
import { alignDown, alignUp, isAligned } from '../protocol/blocks.js';
import { isNoSpace } from './changes.js';
import type { Copies } from './copies.js';
import { equaliseRange, undoRefused } from './equalise.js';
import { Flushing } from './flushing.js';
import { RangeLocks } from './range-locks.js';
import type { Changes } from './reads.js';
import { RegionUse } from './region-use.js';
import type { UnequalRanges } from './unequal-ranges.js';
import { widen } from './whole-blocks.js';

export class VolumeDevice implements NbdExport {
  readonly readOnly = false;
  readonly blockSizeMinBytes = 1;
  /** When the last change began, in milliseconds of the engine's clock. */
  lastChangeMs: number;
  /** Number of client requests so far. */
  requests = 0;
  readonly regions = new RegionUse();
  /** Set during resync: the ranges that may still differ. */
  unequal: UnequalRanges | undefined;
  private readonly flushing: Flushing;
  private isFlushing = false;
  private readonly locks = new RangeLocks();
  /** The changes that a read waits for, and the count by which it sees that one was refused meanwhile. */
  private readonly changes: Changes = {
    refused: 0,
    under: (start, end) => this.locks.changed(start, end),
  };

  /** `flushable` is a promise while a flush of the copies would not cover every acknowledged write. */
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

  /** Sets the size to that of the smallest copy. Only before anything is served. */
  begin(sizeBytes: number): void {
    this.size = sizeBytes;
  }

  /** Raises the size. Connected clients see it when they reconnect: NBD reports it once. */
  grow(sizeBytes: number): void {
    this.size = Math.max(this.size, sizeBytes);
  }

  /** True while no change is in flight. */
  get isQuiet(): boolean {
    return this.locks.idle;
  }

  /** True while a change of the range is in flight or queued. */
  isChanging(start: number, end: number): boolean {
    return this.locks.overlaps(start, end);
  }

  read(offset: number, lengthBytes: number): Promise<Payload> {
    this.requests += 1;
    const end = offset + lengthBytes;
    if (this.unequal?.firstIn(offset, end) !== undefined) return this.readEqual(offset, end);
    return this.copies.reads.read(offset, lengthBytes, this.changes);
  }

  readNow(offset: number, lengthBytes: number, alone = false): Payload | undefined {
    if (this.unequal?.firstIn(offset, offset + lengthBytes) !== undefined) return undefined;
    const payload = this.copies.reads.readNow(offset, lengthBytes, this.changes, alone);
    if (payload !== undefined) this.requests += 1;
    return payload;
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

  /** Flushes what the copies have, even if they are not equal. */
  flushCopies(): Promise<void> {
    return this.flushing.run();
  }

  /** Bounds what no flush has covered; called a few times a second. */
  tick(nowMs: number): void {
    if (this.isFlushing || !this.flushing.isDue(nowMs)) return;
    this.isFlushing = true;
    void this.flush()
      // Ignored: a copy that failed was dropped, or the next flush reports the error.
      .catch(() => undefined)
      .finally(() => {
        this.isFlushing = false;
      });
  }

  async trim(offset: number, lengthBytes: number, options: WriteOptions): Promise<void> {
    // A trim is only a hint: partial blocks at both ends stay as they are.
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
    if (unequal === undefined) return this.copies.reads.blockStatus(offset, lengthBytes, extentsMax);
    // Reports unequal ranges as allocated: one copy may have data where another has a hole, and resync has not
    // decided yet.
    if (unequal.start <= offset) return [{ lengthBytes: unequal.end - offset, allocated: true }];
    return this.copies.reads.blockStatus(offset, unequal.start - offset, extentsMax);
  }

  /** Makes unequal ranges equal before answering: otherwise the data could be lost with the copy it was read from. */
  private async readEqual(offset: number, end: number): Promise<Payload> {
    const start = alignDown(offset);
    const read = await this.withRange(start, alignUp(end), () =>
      equaliseRange(this.copies, start, alignUp(end)),
    );
    this.copies.requireServing();
    return [read.subarray(offset - start, end - start)];
  }

  /** Runs under a barrier: no write is in flight meanwhile. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.locks.alone(work);
  }

  /** Runs while no other write touches the range. */
  withRange<T>(start: number, end: number, work: () => Promise<T>): Promise<T> {
    return this.locks.withRange(start, end, work);
  }

  private async writeWidened(
    offset: number,
    payload: Payload,
    lengthBytes: number,
    options: WriteOptions,
  ): Promise<void> {
    const read = (at: number, length: number) => this.copies.reads.read(at, length);
    const blocks = await widen(offset, payload, lengthBytes, read);
    await this.copies.change((client) =>
      client.write(blocks.offset, blocks.payload, blocks.lengthBytes, options),
    );
  }

  /** Rolls back what copies applied of a change that was refused because all their disks are full. */
  private async takeBack(start: number, end: number, offset = start, payload?: Payload): Promise<void> {
    const lengthBytes = payload === undefined ? end - start : payloadLength(payload);
    try {
      await undoRefused(this.copies, start, end, { offset, payload, lengthBytes });
    } catch (error) {
      this.dropTargets(error);
      throw error;
    }
  }

  /**
   * The only current copy refused the change and may hold a part of it, and its rebuild targets may hold all of it:
   * drops the targets.
   */
  private dropTargets(error: unknown): void {
    for (const link of this.copies.withMode('WO')) this.copies.fail(link, error);
  }

  /** Runs a change under the lock of its range, and leaves the copies equal whether it succeeds or not. */
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
    // Joins the batch only after waiting: flushes wait for the batch, and what was waited for may itself wait for a
    // flush.
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
