/**
 * Estimate of when each rebuild of a cluster will be done, those that wait included.
 *
 * Plays the queue forward twice under the limits in force: once at the rate that half of the last rebuilds reached, once at
 * the rate that nine in ten reached. What it can't know (failures, users, changes of settings) makes it wrong, so it is made
 * anew each time it is asked for.
 */
import type { RebuildId } from '../model/ids.js';
import { isPreempted, type Rebuild, standsStill } from '../model/rebuild.js';
import type { AdmissionView } from '../model/views.js';
import { AdmissionLoad, type Demand } from './admission-queue.js';
import { compareQueued, rebuildDemands } from './plan-admissions.js';

/** Seconds from now. */
export type EndEstimate = { readonly p50Seconds: number; readonly p90Seconds: number };

/** How fast rebuilds of a cluster are, in bytes per second. */
export type RebuildRates = { readonly p50: number; readonly p90: number };

type Facts = Pick<AdmissionView, 'settings' | 'nodes' | 'queued' | 'running'> & {
  /** What its volume holds, for the rebuilds that have not begun to copy. */
  readonly writtenBytes: ReadonlyMap<RebuildId, number>;
};

/** Until a cluster has measured some: a disk of some years ago, and a busy one. */
const UNMEASURED: RebuildRates = { p50: 100 * 1024 * 1024, p90: 25 * 1024 * 1024 };
/** Choosing snapshots, joining, promoting: of the size of seconds, whatever is copied. */
const FIXED_SECONDS = 3;
/** Longer queues are estimated so far; each further one would cost a walk through all of them. */
const QUEUED_MAX = 500;

/** @param samples finished rebuilds, of which those that moved nothing say nothing */
export function ratesOf(samples: readonly { bytes: number; seconds: number }[]): RebuildRates {
  const rates = samples
    .filter(({ bytes, seconds }) => bytes > 0 && seconds > 0)
    .map(({ bytes, seconds }) => bytes / seconds)
    .sort((a, b) => a - b);
  const at = (share: number) => rates[Math.floor((rates.length - 1) * share)];
  return { p50: at(0.5) ?? UNMEASURED.p50, p90: at(0.1) ?? UNMEASURED.p90 };
}

/** Paused rebuilds, those behind a limit of 0 and those far back in the queue are left out: their end can not be told. */
export function estimateEnds(facts: Facts, rates: RebuildRates): ReadonlyMap<RebuildId, EndEstimate> {
  const p50 = playForward(facts, rates.p50);
  const p90 = playForward(facts, rates.p90);
  return new Map(
    [...p50].flatMap(([id, p50Seconds]) => {
      const p90Seconds = p90.get(id);
      return p90Seconds === undefined
        ? []
        : [[id, { p50Seconds, p90Seconds: Math.max(p50Seconds, p90Seconds) }]];
    }),
  );
}

type Work = { readonly rebuild: Rebuild; readonly demands: readonly Demand[]; readonly seconds: number };
type Running = Work & { readonly endSeconds: number };

function playForward(facts: Facts, rate: number): Map<RebuildId, number> {
  const load = new AdmissionLoad(facts.settings, facts.nodes);
  const ends = new Map<RebuildId, number>();
  let running: Running[] = [];
  const begin = (work: Work, at: number) => {
    load.add(work.demands);
    running.push({ ...work, endSeconds: at + work.seconds });
  };
  const workOf = (rebuild: Rebuild) => workFor(rebuild, facts, rate);
  for (const rebuild of facts.running.filter((one) => !isPreempted(one))) begin(workOf(rebuild), 0);
  let waiting = [...facts.queued, ...facts.running.filter(isPreempted)]
    .filter(({ paused }) => !paused)
    .sort(compareQueued)
    .slice(0, QUEUED_MAX)
    .map(workOf);
  for (let now = 0; ; ) {
    waiting = waiting.filter((work) => {
      if (load.obstacleFor(work.demands) !== undefined) return true;
      begin(work, now);
      return false;
    });
    const next = Math.min(...running.map(({ endSeconds }) => endSeconds));
    if (!Number.isFinite(next)) return ends;
    for (const done of running.filter(({ endSeconds }) => endSeconds === next)) {
      load.remove(done.demands);
      ends.set(done.rebuild.id, next);
    }
    running = running.filter(({ endSeconds }) => endSeconds !== next);
    now = next;
  }
}

/** One that a user has paused never ends, and keeps its places. */
function workFor(rebuild: Rebuild, { writtenBytes }: Facts, rate: number): Work {
  const demands = rebuildDemands(rebuild);
  if (rebuild.state === 'running' && standsStill(rebuild) && !isPreempted(rebuild)) {
    return { rebuild, demands, seconds: Number.POSITIVE_INFINITY };
  }
  const total =
    rebuild.bytes.total > 0 ? rebuild.bytes.total : (writtenBytes.get(rebuild.id) ?? rebuild.sizeBytes);
  const left = total * (1 - rebuild.percent / 100);
  const granted = rebuild.grantedBytesPerSecond ?? Number.POSITIVE_INFINITY;
  const seconds = left / Math.min(rate, granted) + FIXED_SECONDS;
  return { rebuild, demands, seconds };
}
