/**
 * State of a simulated cluster in which nothing has changed for a while. A volume whose plan was idle then is reconciled again only
 * because its plan asks for every sweep; without a change the result is the last one, until the next time that the plan names. The
 * same holds for a step that an agent refuses.
 */
import type { VolumeId } from '@holdfast/core/model/ids.js';

/** Calls of a simulated worker are lost at random, at most one of ten. */
const REFUSALS_MIN = 3;
/** After so long a step that was refused is tried again, whatever explains it. */
const REFUSED_MS_MAX = 1_800_000;
/** The cluster's reconciler runs at least so often: its time-dependent rules name no time of their own. */
const CLUSTER_MS_MAX = 60_000;
/** A call of the first may have been lost. */
const CLUSTER_RUNS_MIN = 2;

export class Quiescence {
  /** The last sweep in which nothing changed. */
  sweptMs = 0;
  private readonly known = new Map<VolumeId, Known>();
  /** Last change of all of them, because their shared state changed. */
  private sinceMs = 0;
  /** The last runs of the cluster's reconciler in an unchanged store: after how many changes, how many runs, since when. */
  private clusterRuns = { changes: -1, count: 0, atMs: 0 };

  /** Shared state of all volumes changed: nodes, disks, moves under way. */
  disturbAll(nowMs: number): void {
    this.sinceMs = nowMs;
    this.known.clear();
  }

  disturb(volumeId: VolumeId, nowMs: number): void {
    this.known.set(volumeId, { sinceMs: nowMs, refusals: 0, time: undefined, isIdle: false });
  }

  /**
   * A plan of the volume changed nothing.
   *
   * @param heardMs when agents were heard last: some rules wait for a sign of life after a change
   * @returns whether to `note` when its plan may come out differently
   */
  isWorthNoting(volumeId: VolumeId, isRefused: boolean, nowMs: number, heardMs: number): boolean {
    const before = this.known.get(volumeId);
    const { sinceMs, refusals, time, isIdle } = before ?? {
      sinceMs: this.sinceMs,
      refusals: 0,
      time: undefined,
      isIdle: false,
    };
    if (heardMs <= Math.max(sinceMs, this.sinceMs)) return false;
    if (isRefused) this.known.set(volumeId, { sinceMs, refusals: refusals + 1, time, isIdle });
    return !this.isSettled(volumeId, nowMs) && (!isRefused || refusals + 1 >= REFUSALS_MIN);
  }

  /** @param time at which the plan may change by time alone; `undefined`: never */
  note(volumeId: VolumeId, time: Date | undefined, isRefused: boolean, nowMs: number): void {
    const { sinceMs = this.sinceMs, refusals = 0 } = this.known.get(volumeId) ?? {};
    const again = nowMs + REFUSED_MS_MAX;
    const isLater = time === undefined || time.getTime() > again;
    this.known.set(volumeId, {
      sinceMs,
      refusals,
      time: isRefused && isLater ? new Date(again) : time,
      isIdle: true,
    });
  }

  /** Would its plan change nothing now? */
  isSettled(volumeId: VolumeId, nowMs: number): boolean {
    const known = this.known.get(volumeId);
    return known?.isIdle === true && (known.time === undefined || known.time.getTime() > nowMs);
  }

  /** The cluster's reconciler has run and changed nothing. */
  noteCluster(changes: number, atMs: number): void {
    const before = this.clusterRuns.changes === changes ? this.clusterRuns.count : 0;
    this.clusterRuns = { changes, count: before + 1, atMs };
  }

  /** True if the cluster's reconciler would have the result of the last time. */
  isClusterSettled(changes: number, nowMs: number): boolean {
    const { clusterRuns } = this;
    if (clusterRuns.changes !== changes || clusterRuns.count < CLUSTER_RUNS_MIN) return false;
    return nowMs - clusterRuns.atMs < CLUSTER_MS_MAX;
  }

  /** Next reconciliation of the volume: as its plan requested, unless the result would be the same. */
  dueOf(volumeId: VolumeId, due: Date | undefined, nowMs: number): Date | undefined {
    return this.isSettled(volumeId, nowMs) ? this.known.get(volumeId)?.time : due;
  }
}

type Known = {
  /** When the volume changed last. */
  readonly sinceMs: number;
  /** Runs in a row that an agent refused. */
  readonly refusals: number;
  readonly isIdle: boolean;
  readonly time: Date | undefined;
};
