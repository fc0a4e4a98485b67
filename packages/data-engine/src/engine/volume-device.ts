/**
 * Block device of a volume, as its clients see it: widens byte ranges to whole blocks, and applies overlapping
 * changes in the same order on all copies.
 */

import { SYSTEM_TIME, type Time } from '../base/time.js';
import {
  type Extent,
  type NbdExport,
  type NbdWrite,
  type Payload,
  payloadLength,
  tellWhenEnded,
  type WriteListener,
  type WriteOptions,
  writeBy,
  type ZeroOptions,
} from '../nbd/export.js';
import { alignDown, alignUp, isAligned } from '../protocol/blocks.js';
import { isRefusedChange } from './changes.js';
import type { Copies } from './copies.js';
import { equaliseRange, undoRefused } from './equalise.js';
import { type Batch, Flushing } from './flushing.js';
import { type RangeLock, RangeLocks } from './range-locks.js';
import type { Changes } from './reads.js';
import { RegionUse } from './region-use.js';
import type { UnequalRanges } from './unequal-ranges.js';
import { widen } from './whole-blocks.js';

/** A user's write that has a place in the order of changes. */
type BegunWrite = {
  readonly write: NbdWrite;
  readonly lock: RangeLock;
  readonly listener: WriteListener<unknown>;
  readonly tag: unknown;
  /** Joined only once the lock is held: flushes wait for the batch, and what the lock waits for may itself wait for a flush. */
  batch: Batch | undefined;
};

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
  /** Changes that a read waits for, and a count that shows whether one was refused meanwhile. */
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
    if (isAligned(offset, lengthBytes)) {
      const { fua, alone = false } = options;
      return writeBy(this, { offset, lengthBytes, payload, fua, alone });
    }
    return this.changeRange(
      alignDown(offset),
      alignUp(offset + lengthBytes),
      () => this.writeWidened(offset, payload, lengthBytes, options),
      offset,
      payload,
    );
  }

  /** Without a promise, unless the blocks are being changed already or a copy has trouble. */
  beginWrite<Tag>(write: NbdWrite, listener: WriteListener<Tag>, tag: Tag): void {
    const { offset, lengthBytes, payload } = write;
    if (!isAligned(offset, lengthBytes)) {
      tellWhenEnded(this.write(offset, payload, lengthBytes, write), listener, tag);
      return;
    }
    this.noteChange(offset, offset + lengthBytes);
    const lock = this.locks.take(offset, offset + lengthBytes);
    // The cast: the tag only goes back to the listener that it came with.
    const begun: BegunWrite = {
      write,
      lock,
      listener: listener as WriteListener<unknown>,
      tag,
      batch: undefined,
    };
    if (lock.waiting === undefined) this.sendToCopies(begun);
    else void lock.waiting.then(() => this.sendToCopies(begun));
  }

  private sendToCopies(begun: BegunWrite): void {
    const { lock, write } = begun;
    begun.batch = this.flushing.begin(lock.start, lock.end, this.lastChangeMs);
    this.copies.beginWrite(write, this.copiesListener, begun);
  }

  private readonly copiesListener: WriteListener<BegunWrite> = {
    written: (begun, failure) => {
      if (failure === undefined) {
        this.endWrite(begun, undefined);
        return;
      }
      const { lock, write } = begun;
      this.refused(failure, lock.start, lock.end, write.offset, write.payload).catch((error: unknown) =>
        this.endWrite(begun, error),
      );
    },
  };

  private endWrite({ batch, lock, listener, tag }: BegunWrite, failure: unknown): void {
    if (batch !== undefined) this.flushing.end(batch);
    this.locks.release(lock);
    listener.written(tag, failure);
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
    this.noteChange(start, end);
    const lock = this.locks.take(start, end);
    if (lock.waiting !== undefined) await lock.waiting;
    const batch = this.flushing.begin(start, end, this.lastChangeMs);
    try {
      await change();
    } catch (error) {
      await this.refused(error, start, end, offset, payload);
    } finally {
      this.flushing.end(batch);
      this.locks.release(lock);
    }
  }

  private noteChange(start: number, end: number): void {
    this.lastChangeMs = this.time.nowMs();
    this.regions.note(start, end, this.lastChangeMs);
    this.requests += 1;
  }

  /** Leaves the copies equal after a change that was refused. @throws what refused it, or what kept them from being made equal */
  private async refused(
    error: unknown,
    start: number,
    end: number,
    offset?: number,
    payload?: Payload,
  ): Promise<never> {
    this.changes.refused += 1;
    if (isRefusedChange(error)) await this.takeBack(start, end, offset, payload);
    else this.dropTargets(error);
    throw error;
  }
}
