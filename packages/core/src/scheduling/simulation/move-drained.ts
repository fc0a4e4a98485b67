/**
 * Moves the copies that the drains of a what-if take off their nodes, as the drains would: each to the place that the scheduler
 * finds beside the volume's other copies. What they leave is free then, and what they take is not.
 */
import { compareIds, type NodeId, type VolumeId } from '../../model/ids.js';
import type { Replica } from '../../model/replica.js';
import { isEvicting } from '../../model/volume-facts.js';
import type { ExistingVolume } from './simulation.js';
import type { WorkingFleet } from './working-fleet.js';

/**
 * @param drained nodes whose drains begin with the what-if
 * @param restored copies of volumes that had losses, as these left them
 */
export function moveDrained(
  fleet: WorkingFleet,
  volumes: readonly ExistingVolume[],
  drained: ReadonlySet<NodeId>,
  restored: ReadonlyMap<VolumeId, readonly Replica[]>,
): void {
  if (drained.size === 0) return;
  const inOrder = [...volumes].sort((a, b) => compareIds(a.volume.id, b.volume.id));
  for (const existing of inOrder) {
    let replicas = restored.get(existing.volume.id) ?? existing.replicas;
    const leaving = replicas.filter(
      (replica) =>
        replica.nodeId !== undefined &&
        drained.has(replica.nodeId) &&
        replica.failedAt === undefined &&
        replica.intent !== 'remove' &&
        isEvicting(replica, fleet.view, replicas),
    );
    for (const replica of leaving) replicas = moved(fleet, existing, replicas, replica);
  }
}

/** The volume's copies afterwards; the same ones where there is no place. */
function moved(
  fleet: WorkingFleet,
  { volume }: ExistingVolume,
  replicas: readonly Replica[],
  replica: Replica,
): readonly Replica[] {
  const target = fleet.find(volume, replicas);
  if (target === undefined || replica.diskId === undefined) return replicas;
  const { sizeBytes } = replica;
  fleet.book(target.id, { sizeBytes, writtenBytes: volume.writtenBytes });
  fleet.release(replica.diskId, { sizeBytes, writtenBytes: replica.writtenBytes });
  const there = { ...replica, nodeId: target.nodeId, diskId: target.id };
  return [...replicas.filter((other) => other !== replica), there];
}
