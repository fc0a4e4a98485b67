import { compareQueued } from '@holdfast/core/admission/plan-admissions.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { z } from 'zod';
import { isoOrNull } from '../platform/schemas.js';
import type { rebuildSchema } from './rebuild.schemas.js';

export type RebuildView = z.infer<typeof rebuildSchema>;

/** Rates fall when disks or networks are busy: nine of ten rebuilds are done within twice the even time. */
const P90_FACTOR = 2;

/** Each waiting rebuild's place, in the order in which the admission looks at them. */
export function queuePositions(queued: readonly Rebuild[]): ReadonlyMap<string, number> {
  return new Map([...queued].sort(compareQueued).map(({ id }, index) => [id, index + 1]));
}

export function rebuildView(
  rebuild: Rebuild,
  positions: ReadonlyMap<string, number>,
  now: Date,
): RebuildView {
  return {
    id: rebuild.id,
    clusterId: rebuild.clusterId,
    volumeId: rebuild.volumeId,
    targetReplicaId: rebuild.targetReplicaId,
    targetNodeId: rebuild.targetNodeId,
    sourceReplicaIds: [...rebuild.sourceReplicaIds],
    sourceNodeIds: [...rebuild.sourceNodeIds],
    state: rebuild.state,
    phase: rebuild.phase,
    queuePosition: positions.get(rebuild.id) ?? null,
    priority: rebuild.healthyCopies,
    ...waitingOf(rebuild),
    paused: rebuild.paused,
    bandwidthBytesPerSecond: rebuild.bandwidthBytesPerSecond ?? null,
    grantedBytesPerSecond: rebuild.grantedBytesPerSecond ?? null,
    size: rebuild.sizeBytes,
    bytes: { ...rebuild.bytes },
    percent: rebuild.percent,
    rateBytesPerSecond: rebuild.rateBytesPerSecond,
    eta: etaOf(rebuild, now),
    snapshots: rebuild.snapshots.map((snapshot) => ({ ...snapshot })),
    attempts: rebuild.attempts,
    error: rebuild.error ?? null,
    queuedAt: rebuild.queuedAt.toISOString(),
    startedAt: isoOrNull(rebuild.startedAt),
    finishedAt: isoOrNull(rebuild.finishedAt),
    version: rebuild.version,
  };
}

/** A paused rebuild waits too: for the user who paused it. */
function waitingOf(rebuild: Rebuild): Pick<RebuildView, 'waitingFor' | 'waitingReason'> {
  const { state, paused, waitingFor, waitingReason } = rebuild;
  if (state === 'running' && paused) return { waitingReason: 'Paused', waitingFor: 'it is paused' };
  return { waitingReason: waitingReason ?? null, waitingFor };
}

/** From the share done and the time it took so far: copying and verifying both count in the percentage. */
function etaOf({ state, paused, startedAt, percent }: Rebuild, now: Date): RebuildView['eta'] {
  if (paused || state !== 'running' || startedAt === undefined || percent <= 0) return null;
  const elapsedMs = now.getTime() - startedAt.getTime();
  const remainingMs = Math.max(0, (elapsedMs * (100 - percent)) / percent);
  const at = (factor: number) => new Date(now.getTime() + remainingMs * factor).toISOString();
  return { p50: at(1), p90: at(P90_FACTOR) };
}
