/**
 * Write-back budget: how much of a file may wait in the page cache to be written to the disk.
 *
 * A write into memory takes microseconds, and one sync writes many of them at once. But a flush waits for everything that waits, and
 * a copy that does not answer for seconds is dropped. So no more may wait than the disk has lately written in a quarter of a second;
 * writes beyond that go to the disk directly.
 */
import { KIB } from '@holdfast/core/model/bytes.js';

/** Longest acceptable sync. A flush waits for at most two: one under way, and its own. */
const SYNC_MS_MAX = 250;
/**
 * A write counts one, and one more for each so many bytes: on any disk the place costs something, and on none only the place.
 */
const BYTES_OF_ONE = 32 * KIB;
/** Enough for a first sync to measure the disk. */
const FIRST = 256;
/** Below this the gain is lost in the syncs. */
const FEWEST = 64;
/** About 14 MiB of blocks of 4 KiB, and 100 MiB of writes of 128 KiB: more makes syncs longer, and writes no faster. */
const MOST = 4096;

/** Budget of each file. All files of a process are on one disk, so a new file begins with what is known of it. */
export class DiskAllowance {
  allowed = FIRST;
}
export const ALLOWANCE_OF_PROCESS = new DiskAllowance();

export class WriteBackBudget {
  /** Cost of all writes so far, and of those that a sync has covered. */
  private taken = 0;
  private durable = 0;
  private syncs = 0;

  constructor(private readonly disk = ALLOWANCE_OF_PROCESS) {}

  /** May so many bytes be written into memory? If so they wait from now on, until a sync that begins later has ended. */
  take(lengthBytes: number): boolean {
    const cost = 1 + lengthBytes / BYTES_OF_ONE;
    if (this.taken - this.durable + cost > this.disk.allowed) return false;
    this.taken += cost;
    return true;
  }

  /** Half of the budget is used, so a sync should begin: the other half is for writes during it. */
  get wantsSync(): boolean {
    return this.syncs === 0 && this.taken - this.durable > this.disk.allowed / 2;
  }

  /**
   * Notes that a sync begins. Others may be under way.
   *
   * @returns to be called once, when it has ended, with whether it has succeeded and how long it took
   */
  beginSync(): (isDone: boolean, tookMs: number) => void {
    const covered = this.taken;
    this.syncs += 1;
    return (isDone, tookMs) => {
      this.syncs -= 1;
      const cost = covered - this.durable;
      if (!isDone || cost <= 0) return;
      this.durable = covered;
      if (tookMs > SYNC_MS_MAX) this.disk.allowed = Math.max(FEWEST, (cost * SYNC_MS_MAX) / tookMs);
      else if (cost >= this.disk.allowed / 4) this.disk.allowed = Math.min(MOST, this.disk.allowed * 2);
    };
  }
}
