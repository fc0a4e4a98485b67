import type { Change } from '../model/changes.js';
import type { NodeId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { activeRebuild, isAwaitingRebuild, isOnReadyNode, nodeName } from '../model/volume-facts.js';
import { planPlacements } from '../scheduling/placement/plan-placements.js';
import type { Step } from './step.js';

/** Pause after an agent refused to make a directory: the cause (a full or read-only disk) does not pass at once. */
const PROVISION_PAUSE_MS = 10_000;

/**
 * Provisioning of replicas: finds disks for those that have none, and makes the directories of those that have one.
 *
 * A copy that was to be filled by a rebuild counts as failed while its node is dead: it is then waited for and replaced,
 * instead of being counted as on its way for ever.
 */
export function planProvisioning(view: VolumeView, now: Date): Step | undefined {
  return planPlacement(view, now) ?? planDirectory(view, now) ?? planUnreachableTarget(view, now);
}

function planPlacement(view: VolumeView, now: Date): Step | undefined {
  const { volume, replicas, fleet } = view;
  const unplaced = replicas.filter(({ diskId, intent }) => diskId === undefined && intent === 'keep');
  if (unplaced.length === 0) return undefined;

  const placed = replicas.filter(({ diskId }) => diskId !== undefined);
  const { placements } = planPlacements(volume, placed, unplaced, fleet, now);
  const changes = placements.flatMap(({ nodeId, booking }, index): Change[] => {
    const replica = unplaced[index];
    return replica === undefined ? [] : [{ kind: 'replica.place', replicaId: replica.id, nodeId, booking }];
  });
  return changes.length === 0 ? undefined : { kind: 'commit', why: 'places were found', changes };
}

function planDirectory({ volume, replicas, fleet }: VolumeView, now: Date): Step | undefined {
  for (const replica of replicas) {
    const nodeId = provisionableOn(replica, now);
    if (nodeId === undefined || !isOnReadyNode(replica, fleet)) continue;
    return { kind: 'provision', replicaId: replica.id, nodeId, firstCopy: volume.epoch === 0 };
  }
  return undefined;
}

function provisionableOn(replica: Replica, now: Date): NodeId | undefined {
  if (replica.provisioned || replica.diskId === undefined || replica.intent === 'remove') return undefined;
  const { lastFailedAt } = replica;
  const isPausing = lastFailedAt !== undefined && now.getTime() - lastFailedAt.getTime() < PROVISION_PAUSE_MS;
  return isPausing ? undefined : replica.nodeId;
}

/** When a directory that an agent refused to make may be requested again. */
export function provisioningTimes({ replicas }: VolumeView): Date[] {
  return replicas.flatMap(({ provisioned, lastFailedAt }) =>
    provisioned || lastFailedAt === undefined ? [] : [new Date(lastFailedAt.getTime() + PROVISION_PAUSE_MS)],
  );
}

function planUnreachableTarget(view: VolumeView, now: Date): Step | undefined {
  const { volume, replicas, fleet } = view;
  if (volume.lifecycle.state !== 'attached' || activeRebuild(view) !== undefined) return undefined;
  const lost = replicas.find((replica) => isAwaitingRebuild(replica) && !isOnReadyNode(replica, fleet));
  if (lost === undefined) return undefined;

  const failure = { reason: 'NodeDown', message: `node ${nodeName(fleet, lost.nodeId)} does not answer` };
  const patch = { failedAt: now, lastFailedAt: now, failure };
  const changes: Change[] = [{ kind: 'replica.patch', replicaId: lost.id, patch }];
  return { kind: 'commit', why: failure.message, changes };
}
