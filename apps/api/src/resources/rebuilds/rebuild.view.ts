import { type Rebuild, standsStill } from '@holdfast/core/model/rebuild.js';
import type { z } from 'zod';
import { isoOrNull } from '../../http/schemas.js';
import type { RebuildOutlook } from './read-outlook.js';
import type { rebuildSchema } from './rebuild.schemas.js';

export type RebuildView = z.infer<typeof rebuildSchema>;

/** Rates fall when disks or networks are busy: nine of ten rebuilds are done within twice the median time. */
const P90_FACTOR = 2;
/** A year. */
const ETA_SECONDS_MAX = 365 * 24 * 3600;

export function rebuildView(rebuild: Rebuild, outlook: RebuildOutlook, now: Date): RebuildView {
  return {
    id: rebuild.id,
    clusterId: rebuild.clusterId,
    volumeId: rebuild.volumeId,
    targetReplicaId: rebuild.targetReplicaId,
    targetNodeId: rebuild.targetNodeId,
    sourceReplicaIds: [...rebuild.sourceReplicaIds],
    sourceNodeIds: [...rebuild.sourceNodeIds],
    // A preempted rebuild waits in the queue as those that have not started.
    state: rebuild.preemptedAt === undefined ? rebuild.state : 'queued',
    phase: rebuild.phase,
    queuePosition: outlook.positions.get(rebuild.id) ?? null,
    priority: rebuild.healthyCopies,
    ...waitingOf(rebuild),
    paused: rebuild.paused,
    bandwidthBytesPerSecond: rebuild.bandwidthBytesPerSecond ?? null,
    grantedBytesPerSecond: rebuild.grantedBytesPerSecond ?? null,
    size: rebuild.sizeBytes,
    bytes: { ...rebuild.bytes },
    percent: rebuild.percent,
    rateBytesPerSecond: rebuild.rateBytesPerSecond,
    eta: etaOf(rebuild, outlook, now),
    snapshots: rebuild.snapshots.map((snapshot) => ({ ...snapshot })),
    attempts: rebuild.attempts,
    error: rebuild.error ?? null,
    queuedAt: rebuild.queuedAt.toISOString(),
    startedAt: isoOrNull(rebuild.startedAt),
    finishedAt: isoOrNull(rebuild.finishedAt),
    version: rebuild.version,
  };
}

/** A paused rebuild waits for the user who paused it. */
function waitingOf(rebuild: Rebuild): Pick<RebuildView, 'waitingFor' | 'waitingReason'> {
  const { state, paused, waitingFor, waitingReason } = rebuild;
  if (state === 'running' && paused) return { waitingReason: 'Paused', waitingFor: 'it is paused' };
  return { waitingReason: waitingReason ?? null, waitingFor };
}

/**
 * From the share done and the time it took so far (copying and verifying both count in the percentage); before that, and while it waits,
 * from the durations of the cluster's last rebuilds.
 */
export function etaOf(rebuild: Rebuild, { ends }: RebuildOutlook, now: Date): RebuildView['eta'] {
  const { id, state, startedAt, percent } = rebuild;
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
  if (rebuild.paused) return null;
  if (state === 'running' && !standsStill(rebuild) && startedAt !== undefined && percent > 0) {
    const elapsedSeconds = (now.getTime() - startedAt.getTime()) / 1000;
    const remaining = Math.max(0, (elapsedSeconds * (100 - percent)) / percent);
    return { p50: at(remaining), p90: at(remaining * P90_FACTOR) };
  }
  const end = ends.get(id);
  // Centuries are no useful answer: the rebuild is stalled, and its end is unknown.
  return end === undefined || end.p90Seconds > ETA_SECONDS_MAX
    ? null
    : { p50: at(end.p50Seconds), p90: at(end.p90Seconds) };
}
