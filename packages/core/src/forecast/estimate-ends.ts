/**
 * Estimate of when each rebuild of a cluster will be done, waiting ones included.
 *
 * Plays the queue forward under the present limits, at the median speed of the last rebuilds and at the one that nine in ten reached.
 * Unpredictable events (failures, users, changes of settings) make it wrong, so it is made anew each time it is requested.
 */

import { compareQueued } from '../admission/plan-admissions.js';
import type { RebuildId, VolumeId } from '../model/ids.js';
import { type Rebuild } from '../model/rebuild.js';
import type { AdmissionView, BandwidthSpec } from '../model/views.js';
import type { Pace, Paces } from './pace.js';
import { RebuildQueue } from './rebuild-queue.js';

/** Seconds from now. */
export type EndEstimate = { readonly p50Seconds: number; readonly p90Seconds: number };

/** Volume of a rebuild: its size, for one that has not begun to copy, and its rate limit. */
export type RebuiltVolume = { readonly writtenBytes: number; readonly spec: BandwidthSpec };

type Facts = Pick<AdmissionView, 'clusterId' | 'settings' | 'queued' | 'running' | 'quotas'> & {
  readonly volumes: ReadonlyMap<VolumeId, RebuiltVolume>;
};

/** Longer queues are estimated so far; each further one would cost a walk through all of them. */
const QUEUED_MAX = 500;

/** Paused rebuilds, those behind a limit of 0 and those far back in the queue are left out: their end can't be predicted. */
export function estimateEnds(
  facts: Facts,
  paces: Pick<Paces, 'p50' | 'p90'>,
  now: Date,
): ReadonlyMap<RebuildId, EndEstimate> {
  const p50 = playForward(facts, paces.p50, now);
  const p90 = playForward(facts, paces.p90, now);
  return new Map(
    [...p50].flatMap(([id, p50Seconds]) => {
      const p90Seconds = p90.get(id);
      return p90Seconds === undefined
        ? []
        : [[id, { p50Seconds, p90Seconds: Math.max(p50Seconds, p90Seconds) }]];
    }),
  );
}

function playForward(facts: Facts, pace: Pace, now: Date): Map<RebuildId, number> {
  const line = new RebuildQueue(facts, pace);
  const queued = [...facts.queued].filter(({ paused }) => !paused).sort(compareQueued);
  for (const rebuild of [...facts.running, ...queued.slice(0, QUEUED_MAX)]) {
    const volume = facts.volumes.get(rebuild.volumeId);
    line.add(rebuild, { bytes: bytesOf(rebuild, volume), spec: volume?.spec });
  }
  const ends = new Map<RebuildId, number>();
  for (let seconds = 0; ; ) {
    line.admit(now);
    const next = line.secondsToNextEnd();
    if (next === undefined) return ends;
    seconds += next;
    for (const { id } of line.pass(next)) ends.set(id, seconds);
  }
}

function bytesOf({ bytes, sizeBytes }: Rebuild, volume: RebuiltVolume | undefined): number {
  return bytes.total > 0 ? bytes.total : (volume?.writtenBytes ?? sizeBytes);
}
