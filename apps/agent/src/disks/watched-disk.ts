/**
 * A disk with a time limit on its calls. A call to a disk that does not answer holds one of the agent's threads for as long as that
 * lasts. So once a call has run over the limit the disk gets no further calls until the call has ended.
 *
 * Whether it is then slow or hangs is core's rule (`disk-answers.ts`). A slow one is reported as it was last: it stays in use.
 */
import type { DiskReport } from '@holdfast/core/model/agent-protocol.js';
import {
  answersText,
  answerTimes,
  type DiskAnswers,
  type DiskAnswerTimes,
  judgePace,
  SLOW_MS,
} from '@holdfast/core/model/disk-answers.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DiskId } from '@holdfast/core/model/ids.js';
import type { DiskStore } from '@holdfast/data-engine/disk/disk-store.js';
import { within } from '../within.js';
import { type Disk, type DiskEntry, type DiskProblem, requireUsable, unreadable } from './disk.js';
import type { StoredStamp } from './stored-stamp.js';

/** Number of recent calls from which the disk's pace is computed: the heartbeat makes about one each second. */
const CALLS_KEPT = 32;
/** Reported period: two minutes, or less if more calls were made. */
const TOLD_MS = 120_000;
const TOLD_CALLS_MAX = 256;

export class DiskOwesAnswer extends StorageFault {
  /** @param isHung false: it is slow, and stays in use */
  constructor(
    publicMessage: string,
    readonly isHung: boolean,
  ) {
    super('disk.not_ready', { publicMessage });
  }
}

export type WatchOptions = {
  /** The other disks of the node. */
  peers?: () => readonly DiskAnswers[];
  /** A clock that never goes back. */
  nowMs?: () => number;
  /** How long a call is waited for. A heartbeat, which waits for it, times out after 5 s. */
  limitMs?: number;
};

export class WatchedDisk implements Disk {
  /** Calls that have not ended, the oldest first. */
  private readonly underWay = new Set<{ sinceMs: number }>();
  private lastReport: DiskReport | undefined;
  private readonly tookMs: number[] = [];
  private readonly told: { endedAtMs: number; tookMs: number }[] = [];
  private readonly peers: () => readonly DiskAnswers[];
  private readonly nowMs: () => number;
  private readonly limitMs: number;

  constructor(
    private readonly disk: Disk,
    private readonly entry: DiskEntry,
    { peers = () => [], nowMs = () => performance.now(), limitMs = SLOW_MS }: WatchOptions = {},
  ) {
    this.peers = peers;
    this.nowMs = nowMs;
    this.limitMs = limitMs;
  }

  /** How it answers now. */
  get answers(): DiskAnswers {
    const [oldest] = this.underWay;
    const oldestMs = oldest === undefined ? 0 : this.nowMs() - oldest.sinceMs;
    return { oldestMs, tookMs: this.tookMs };
  }

  /** How it has answered in the last minutes. */
  private get times(): DiskAnswerTimes {
    const sinceMs = this.nowMs() - TOLD_MS;
    const recent = this.told.filter(({ endedAtMs }) => endedAtMs >= sinceMs);
    return answerTimes({ oldestMs: this.answers.oldestMs, tookMs: recent.map(({ tookMs }) => tookMs) });
  }

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
      if (error instanceof DiskOwesAnswer) return this.owedProblem();
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
      return { ...this.lastReport, answers: this.times };
    } catch (error) {
      if (error instanceof DiskOwesAnswer) return { ...this.owedReport(), answers: this.times };
      throw error;
    }
  }

  /** Makes the call unless the disk owes an answer, and waits no longer than the limit. @throws DiskOwesAnswer */
  private async bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.answers.oldestMs > this.limitMs) throw this.refusal();
    const call = { sinceMs: this.nowMs() };
    this.underWay.add(call);
    const ending = work().finally(() => this.ended(call));
    return within(this.limitMs, ending, () => {
      throw this.refusal();
    });
  }

  private ended(call: { sinceMs: number }): void {
    this.underWay.delete(call);
    const endedAtMs = this.nowMs();
    const tookMs = endedAtMs - call.sinceMs;
    this.told.push({ endedAtMs, tookMs });
    if (this.told.length > TOLD_CALLS_MAX) this.told.shift();
    this.tookMs.push(tookMs);
    if (this.tookMs.length > CALLS_KEPT) this.tookMs.shift();
  }

  private isHung(): boolean {
    return judgePace(this.answers, this.peers()) === 'hung';
  }

  private refusal(): DiskOwesAnswer {
    return new DiskOwesAnswer(this.owedProblem().message, this.isHung());
  }

  private owedProblem(): DiskProblem {
    const { path, answers } = this;
    if (!this.isHung())
      return { reason: 'DiskSlow', message: `${path} answers slowly: ${answersText(answers)}` };
    const message =
      `${path} does not answer, and load does not explain that: ${answersText(answers)}; ` +
      'look at the disk and at the kernel log';
    return { reason: 'DiskHung', message };
  }

  /** A slow disk is reported with its last report; one that has not answered since the agent's start has none. */
  private owedReport(): DiskReport {
    const { diskId, name, path, entry, lastReport } = this;
    if (lastReport !== undefined && !this.isHung()) return lastReport;
    const { type, sizeBytes } = entry;
    const maximumBytes = lastReport?.maximumBytes ?? sizeBytes;
    return { diskId, name, path, type, maximumBytes, ...unreadable(this.owedProblem()) };
  }
}
