/** Place for the replacement of a copy that moves: judged as the volume will be once that copy is gone. */
import type { DiskId, NodeId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import type { FleetView, VolumeView } from '../model/views.js';
import type { Placement } from '../scheduling/framework/framework.js';
import { placementRequest } from '../scheduling/framework/placement-request.js';
import { placeReplica } from '../scheduling/placement/place-replica.js';

/** Requested place; omitted parts are the scheduler's choice. */
export type MoveTarget = {
  readonly nodeId?: NodeId | undefined;
  /** Disks that may take it. */
  readonly diskIds?: ReadonlySet<DiskId> | undefined;
};

/**
 * The moving copy holds no place in this, so its replacement may go to another disk of its node, or to another node of its
 * zone, where copies may share neither. It never goes to the disk that holds the copy.
 */
export function placeInstead(
  { volume, replicas, fleet }: VolumeView,
  moving: Replica,
  { nodeId, diskIds }: MoveTarget,
  now: Date,
): Placement {
  const others = replicas.filter(({ id }) => id !== moving.id);
  const request = placementRequest(volume, others, fleet);
  const left = withoutDisk(fleet, moving.diskId);
  const open =
    diskIds === undefined ? left : { ...left, disks: left.disks.filter(({ id }) => diskIds.has(id)) };
  return placeReplica({ ...request, requiredNodeId: nodeId ?? request.requiredNodeId }, open, now);
}

/** Kept with its fleet: a copy that may move tries many targets, and each uses the same fleet and its indexes. */
function withoutDisk(fleet: FleetView, diskId: DiskId | undefined): FleetView {
  if (diskId === undefined) return fleet;
  const made = reduced.get(fleet) ?? new Map<DiskId, FleetView>();
  reduced.set(fleet, made);
  const known = made.get(diskId) ?? { ...fleet, disks: fleet.disks.filter(({ id }) => id !== diskId) };
  made.set(diskId, known);
  return known;
}

const reduced = new WeakMap<FleetView, Map<DiskId, FleetView>>();
