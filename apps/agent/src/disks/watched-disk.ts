/**
 * A disk with a time limit on its calls. A call to a hung disk holds one of the agent's threads for as long as it
 * hangs. So once a call has run over the limit the disk counts as hung: it is reported as that at once and gets no
 * further calls until the call has ended.
 */
import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskId } from '@holdfast/core/model/ids.js';
import type { DiskStore } from '@holdfast/data-engine/disk/disk-store.js';
import { within } from '../within.js';
import { type Disk, type DiskEntry, type DiskProblem, requireUsable, unreadable } from './disk.js';
import type { StoredStamp } from './stored-stamp.js';

/**
 * Limit of one call. A loaded disk answers within milliseconds, and a heartbeat, which waits for it, times out after 5
 * s.
 */
const DISK_LIMIT_MS = 2_000;

class DiskHung extends StorageFault {}

export class WatchedDisk implements Disk {
  /** Calls that have not ended, the oldest first. */
  private readonly underWay = new Set<{ sinceMs: number }>();
  private lastReport: DiskReport | undefined;

  constructor(
    private readonly disk: Disk,
    private readonly entry: DiskEntry,
    private readonly limitMs: number = DISK_LIMIT_MS,
  ) {}

  get diskId(): DiskId {
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

  readStamp(): Promise<StoredStamp | undefined> {
    return this.bounded(() => this.disk.readStamp());
  }

  writeStamp(stamp: StoredStamp): Promise<void> {
    return this.bounded(() => this.disk.writeStamp(stamp));
  }

  fileId(): Promise<string | undefined> {
    return this.bounded(() => this.disk.fileId());
  }

  release(): Promise<void> {
    return this.bounded(() => this.disk.release());
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

  /** Makes the call unless the disk hangs, and waits no longer than the limit. @throws DiskHung */
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
