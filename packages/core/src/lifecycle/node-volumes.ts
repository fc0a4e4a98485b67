/** Look-ups over the volumes of one node: a drain needs the nodes and disks of thousands of replicas. */

import { isDrainedAway } from '../model/drained-copies.js';
import { disksById, nodesById } from '../model/fleet-lookup.js';
import type { DiskId, NodeId } from '../model/ids.js';
import { isNodeEmptied, type StorageDisk, type StorageNode } from '../model/node.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { FleetView, NodeVolumes } from '../model/views.js';
import { isAwaitingRebuild, isLeavingPlace } from '../model/volume-facts.js';

export type VolumeOnNode = NodeVolumes['volumes'][number];

export type FleetLookup = {
  readonly fleet: FleetView;
  nodeOf(id: NodeId | undefined): StorageNode | undefined;
  diskOf(id: DiskId | undefined): StorageDisk | undefined;
};

export function fleetLookup(fleet: FleetView): FleetLookup {
  const nodes = nodesById(fleet.nodes);
  const disks = disksById(fleet.disks);
  return {
    fleet,
    nodeOf: (id) => (id === undefined ? undefined : nodes.get(id)),
    diskOf: (id) => (id === undefined ? undefined : disks.get(id)),
  };
}

/** As `isEvicting`, without a walk through the fleet. */
export function isLeaving(
  replica: Replica,
  { replicas }: Pick<VolumeOnNode, 'replicas'>,
  { nodeOf, diskOf }: FleetLookup,
): boolean {
  const node = nodeOf(replica.nodeId);
  const isAllToLeave = node !== undefined && isNodeEmptied(node);
  const isEmptied = isAllToLeave || isDrainedAway(replica, { replicas, nodeOf });
  return isLeavingPlace(replica, isEmptied, diskOf(replica.diskId)?.evictionRequested === true);
}

/** Copies that the volume has, or is about to have, once all that leave have left. */
export function remainingCopies(volume: VolumeOnNode, lookup: FleetLookup): { full: number; coming: number } {
  const staying = volume.replicas.filter(
    (replica) => replica.intent !== 'remove' && !isLeaving(replica, volume, lookup),
  );
  return {
    full: staying.filter(isHealthy).length,
    coming: staying.filter(isAwaitingRebuild).length,
  };
}
