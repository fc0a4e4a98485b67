/**
 * Queue of rebuilds, played forward: which begin when, by the cluster's own admission, and when each ends at a given speed.
 *
 * It knows no volumes. Its caller decides a volume's next rebuild between two ends, and adds it to the queue.
 */
import { compareQueued, planAdmissions } from '../admission/plan-admissions.js';
import { shareBandwidth } from '../admission/share-bandwidth.js';
import type { RebuildId, VolumeId } from '../model/ids.js';
import { type Rebuild, standsStill } from '../model/rebuild.js';
import type { AdmissionView, BandwidthSpec } from '../model/views.js';
import type { Pace } from './pace.js';

/**
 * Queued rebuilds that are tried after each end: the riskiest. Far more than limits let begin at once; more would make the time grow
 * with the square of the queue.
 */
const WINDOW = 100;
/** Preemption makes room for one that begins in the next pass. Each pass but the last pauses at least one. */
const LOOKS_MAX = 2 * WINDOW;
/** Below a millisecond of copying: the rest of a rebuild that has ended is an error of rounding. */
const SECONDS_MIN = 0.001;

/** `quotas` left out: nothing limits whose rebuilds run. */
type Facts = Pick<AdmissionView, 'clusterId' | 'settings'> & Partial<Pick<AdmissionView, 'quotas'>>;
type Work = { readonly rebuild: Rebuild; readonly bytesLeft: number; readonly fixedLeftSeconds: number };

/** Bytes that a rebuild has to copy, and its volume's rate limit. */
export type RebuildWork = { readonly bytes: number; readonly spec: BandwidthSpec | undefined };

export class RebuildQueue {
  private queued: Work[] = [];
  private isSorted = true;
  private running = new Map<RebuildId, Work>();
  private rates: ReadonlyMap<RebuildId, number> = new Map();
  private readonly specs = new Map<VolumeId, BandwidthSpec | undefined>();

  constructor(
    private readonly facts: Facts,
    private readonly pace: Pace,
  ) {}

  /** @param bytes that it has to copy in all */
  add(rebuild: Rebuild, { bytes, spec }: RebuildWork): void {
    this.specs.set(rebuild.volumeId, spec);
    const share = 1 - rebuild.percent / 100;
    const work = {
      rebuild,
      bytesLeft: bytes * share,
      fixedLeftSeconds: this.pace.fixedSeconds * share,
    };
    if (rebuild.state === 'running') this.running.set(rebuild.id, work);
    else this.queued.push(work);
    this.isSorted = false;
    this.rates = new Map();
  }

  /** Its target or its engine is gone. */
  remove(id: RebuildId): void {
    this.queued = this.queued.filter(({ rebuild }) => rebuild.id !== id);
    this.running.delete(id);
    this.rates = new Map();
  }

  /** Lets begin, stand still and go on what admission says. */
  admit(now: Date): void {
    if (!this.isSorted) this.queued.sort((a, b) => compareQueued(a.rebuild, b.rebuild));
    this.isSorted = true;
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const { rebuilds, preempted } = planAdmissions(this.view(), now);
      for (const { rebuildId } of rebuilds) this.begin(rebuildId, now);
      for (const id of preempted) this.stop(id, now);
      // Only those that stand still now make room that this look did not see.
      if (preempted.length === 0) break;
    }
    const shares = shareBandwidth(this.rebuilds(), this.facts.settings, (id) => this.specs.get(id));
    this.rates = new Map(this.rebuilds().map((rebuild) => [rebuild.id, this.rateOf(rebuild, shares)]));
  }

  /** Seconds until the next rebuild ends; `undefined`: none of those that run ever does. */
  secondsToNextEnd(): number | undefined {
    const ends = [...this.running.values()].map((work) => this.secondsOf(work)).filter(Number.isFinite);
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  /** Lets time pass in which nothing begins. @returns what ended meanwhile */
  pass(seconds: number): Rebuild[] {
    const ended: Rebuild[] = [];
    for (const [id, work] of this.running) {
      if (this.secondsOf(work) <= seconds + SECONDS_MIN) {
        this.running.delete(id);
        ended.push(work.rebuild);
        continue;
      }
      const rate = this.rates.get(id) ?? 0;
      if (rate === 0) continue;
      const copying = Math.max(0, seconds - work.fixedLeftSeconds);
      this.running.set(id, {
        ...work,
        fixedLeftSeconds: Math.max(0, work.fixedLeftSeconds - seconds),
        bytesLeft: work.bytesLeft - copying * rate,
      });
    }
    return ended;
  }

  private view(): AdmissionView {
    const { clusterId, settings, quotas = [] } = this.facts;
    return {
      clusterId,
      settings,
      // Only the words for what waits name nodes, and no user reads these.
      nodes: [],
      queued: this.queued.slice(0, WINDOW).map(({ rebuild }) => rebuild),
      running: this.rebuilds(),
      ending: [],
      blocked: [],
      quotas,
      rebuilt: [],
      tasks: { admitted: [], waiting: [], candidates: [] },
    };
  }

  private rebuilds(): Rebuild[] {
    return [...this.running.values()].map(({ rebuild }) => rebuild);
  }

  private begin(id: RebuildId, now: Date): void {
    const work = this.running.get(id) ?? this.queued.find(({ rebuild }) => rebuild.id === id);
    if (work === undefined) return;
    this.queued = this.queued.filter((one) => one !== work);
    const begun = { ...work.rebuild, state: 'running', phase: 'copying', preemptedAt: undefined } as const;
    const rebuild = { ...begun, startedAt: begun.startedAt ?? now };
    this.running.set(id, { ...work, rebuild });
  }

  private stop(id: RebuildId, now: Date): void {
    const work = this.running.get(id);
    if (work === undefined) return;
    const tuned = { paused: true, bandwidthBytesPerSecond: undefined };
    this.running.set(id, { ...work, rebuild: { ...work.rebuild, preemptedAt: now, tuned } });
  }

  private rateOf(rebuild: Rebuild, shares: ReturnType<typeof shareBandwidth>): number {
    if (standsStill(rebuild)) return 0;
    return Math.min(this.pace.bytesPerSecond, shares.get(rebuild.id) ?? Number.POSITIVE_INFINITY);
  }

  private secondsOf({ rebuild, bytesLeft, fixedLeftSeconds }: Work): number {
    const rate = this.rates.get(rebuild.id) ?? 0;
    return rate === 0 ? Number.POSITIVE_INFINITY : fixedLeftSeconds + bytesLeft / rate;
  }
}
