/**
 * A disk with a limit for how long it may take. One that hangs keeps a thread of the agent for each call that was made
 * of it, and never gives it back: so once a call has taken too long the disk counts as hung, says so at once, and gets
 * no further calls until that one has ended.
 */
import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskStore } from '@holdfast/data-engine/replica/disk-store.js';
import { within } from '../within.js';
import { type Disk, type DiskEntry, type DiskProblem, requireUsable, unreadable } from './disk.js';

/** A loaded disk answers these within milliseconds; a heartbeat, which waits for it, is given up after five seconds. */
const DISK_LIMIT_MS = 2_000;

class DiskHung extends StorageFault {}

export class WatchedDisk implements Disk {
  /** When calls that have not ended were made, the oldest first. */
  private readonly underWay = new Set<{ sinceMs: number }>();
  private lastReport: DiskReport | undefined;

  constructor(
    private readonly disk: Disk,
    private readonly entry: DiskEntry,
    private readonly limitMs: number = DISK_LIMIT_MS,
  ) {}

  get diskId(): string {
    return this.disk.diskId;
  }

  get name(): string {
    return this.disk.name;
  }

  get path(): string {
    return this.disk.path;
  }

  async problem(): Promise<DiskProblem | undefined> {
    try {
      return await this.bounded(() => this.disk.problem());
    } catch (error) {
      if (error instanceof DiskHung) return this.hungProblem();
      throw error;
    }
  }

  isAbsent(): Promise<boolean> {
    return this.bounded(() => this.disk.isAbsent());
  }

  requireUsable(): Promise<void> {
    return requireUsable(this);
  }

  store(): Promise<DiskStore> {
    return this.bounded(() => this.disk.store());
  }

  replicaIds(): Promise<string[]> {
    return this.bounded(() => this.disk.replicaIds());
  }

  async report(nowMs: number): Promise<DiskReport> {
    try {
      this.lastReport = await this.bounded(() => this.disk.report(nowMs));
      return this.lastReport;
    } catch (error) {
      if (error instanceof DiskHung) return this.hungReport();
      throw error;
    }
  }

  /** @throws DiskHung */
  private async bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.hungMs() > this.limitMs) throw this.hung();
    const call = { sinceMs: performance.now() };
    this.underWay.add(call);
    const ending = work().finally(() => this.underWay.delete(call));
    return within(this.limitMs, ending, () => {
      throw this.hung();
    });
  }

  private hungMs(): number {
    const [oldest] = this.underWay;
    return oldest === undefined ? 0 : performance.now() - oldest.sinceMs;
  }

  private hung(): DiskHung {
    return new DiskHung('disk.not_ready', { publicMessage: this.hungProblem().message });
  }

  private hungProblem(): DiskProblem {
    const message =
      `${this.path} does not answer: a call has been waiting for it for more than ${this.limitMs / 1000} s; ` +
      'look at the disk and at the kernel log';
    return { reason: 'DiskHung', message };
  }

  private hungReport(): DiskReport {
    const { diskId, name, path, entry, lastReport } = this;
    const { type, sizeBytes } = entry;
    const maximumBytes = lastReport?.maximumBytes ?? sizeBytes;
    return { diskId, name, path, type, maximumBytes, ...unreadable(this.hungProblem()) };
  }
}
