import type { DrainPlan, DrainPlanVolume } from '@holdfast/core/drain/plan-drain.js';
import type { StorageNode } from '@holdfast/core/model/node.js';
import type { DrainProgress, DrainWait } from '@holdfast/core/model/node-drain.js';
import type { z } from 'zod';
import { isoOrNull } from '../../http/schemas.js';
import type { drainPlanSchema, nodeDrainSchema } from './drain.schemas.js';

export type DrainPlanView = z.infer<typeof drainPlanSchema>;
type NodeDrainView = z.infer<typeof nodeDrainSchema>;

/** Volumes in one answer; the totals are of all. */
const VOLUMES_MAX = 1_000;
const NO_PROGRESS: DrainProgress = { replicasToMove: 0, replicasMoved: 0, bytesToMove: 0, bytesMoved: 0 };

/** A drain without a status has not been reconciled yet: it has just begun. */
export function nodeDrainView({ drain, drainStatus }: StorageNode): NodeDrainView | null {
  if (drain === undefined) return null;
  const { policy, requestedAt } = drain;
  return {
    policy,
    requestedAt: requestedAt.toISOString(),
    state: drainStatus?.state ?? 'draining',
    since: (drainStatus?.since ?? requestedAt).toISOString(),
    progress: { ...(drainStatus?.progress ?? NO_PROGRESS) },
    waitingCount: drainStatus?.waitingCount ?? 0,
    waitingFor: (drainStatus?.waitingFor ?? []).map(waitView),
  };
}

function waitView({ replicaId, cures, ...wait }: DrainWait): NodeDrainView['waitingFor'][number] {
  return { ...wait, replicaId: replicaId ?? null, cures: [...cures] };
}

export function drainPlanView({ volumes, time, copiesAtLowest, ...plan }: DrainPlan): DrainPlanView {
  const isBlocking = ({ blockers }: DrainPlanVolume) => blockers.length > 0;
  const inOrder = [...volumes.filter(isBlocking), ...volumes.filter((volume) => !isBlocking(volume))];
  return {
    ...plan,
    time: time ?? null,
    copiesAtLowest: copiesAtLowest ?? null,
    volumeCount: volumes.length,
    volumes: inOrder.slice(0, VOLUMES_MAX).map(({ targets, blockers, waitsUntil, ...volume }) => ({
      ...volume,
      targetNodeIds: targets.map(({ nodeId }) => nodeId),
      waitsUntil: isoOrNull(waitsUntil),
      blockers: blockers.map(waitView),
    })),
  };
}
