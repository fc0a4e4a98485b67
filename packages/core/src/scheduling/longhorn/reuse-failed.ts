/**
 * Reuse of failed replicas: which one Longhorn takes back, and how long it waits before it builds a new one
 * (docs/longhorn-rules.md).
 *
 * Anti-affinity is asked among the nodes of reusable replicas only, so that a live replica elsewhere does not keep one
 * from returning: that is Longhorn's rule, and `lifecycle/plan-replenishment.ts` has ours.
 */

import { conditionOf } from '../../model/condition.js';
import type { DiskId, NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import { leavesFreeSpace, spaceLimits } from '../../policy/disk-space.js';
import { backingImageDiskFilter } from '../filters/backing-image.filter.js';
import { diskAllowSchedulingFilter } from '../filters/disk-allow-scheduling.filter.js';
import { diskTagsFilter } from '../filters/disk-tags.filter.js';
import { diskTypeFilter } from '../filters/disk-type.filter.js';
import { engineAvailableFilter } from '../filters/engine-available.filter.js';
import { fileSystemLimitFilter } from '../filters/file-system-limit.filter.js';
import { nodeAllowSchedulingFilter } from '../filters/node-allow-scheduling.filter.js';
import { nodeReadyFilter } from '../filters/node-ready.filter.js';
import { requiredNodeFilter } from '../filters/required-node.filter.js';
import {
  beginCycle,
  type PlacementCycle,
  type Preparing,
  prepareAll,
  type Rejection,
} from '../framework/framework.js';
import { mayReturn } from '../framework/occupancy.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { findCandidates } from '../placement/place-replica.js';
import { LONGHORN_PROFILE } from './longhorn-profile.js';
import { recordedSchedulableFilter } from './recorded-conditions.filter.js';

/** What the node of a failed replica has to be. */
const RETURN_NODE_FILTERS: readonly Preparing<StorageNode>[] = [
  nodeReadyFilter,
  recordedSchedulableFilter,
  nodeAllowSchedulingFilter,
  requiredNodeFilter,
  engineAvailableFilter,
];

/**
 * The failed replicas that may be taken back: the last to fail, and those that failed in the same second.
 *
 * @param request names the volume's replicas; those whose process is not running belong neither there nor here
 */
export function replicasToReuse(request: PlacementRequest, fleet: FleetView, now: Date): readonly Replica[] {
  const cycle = beginCycle(request, fleet, LONGHORN_PROFILE, now);
  const reusable = reusableReplicas(cycle);
  const nodeIds = new Set(reusable.map(({ nodeId }) => nodeId));
  const diskIds = new Set(reusable.map(({ diskId }) => diskId));

  // Failed replicas take no place here: they compete for their own.
  const live = request.replicas.filter(({ failedAt }) => failedAt === undefined);
  const found = findCandidates(
    { ...cycle, request: { ...request, replicas: live } },
    {
      nodeFilters: [onlyNodes(nodeIds)],
      diskFilters: [onlyDisks(diskIds), diskTypeFilter, fileSystemLimitFilter, backingImageDiskFilter],
    },
  );
  if (found.kind === 'none') return [];
  const candidateIds = new Set(found.candidates.map(({ id }) => id));
  const returning = reusable.filter(({ diskId }) => diskId !== undefined && candidateIds.has(diskId));
  const lastMs = returning.reduce((latest, replica) => Math.max(latest, failedAtMs(replica)), 0);
  return returning.filter((replica) => failedAtMs(replica) === lastMs);
}

function reusableReplicas(cycle: PlacementCycle): Replica[] {
  const checkNode = prepareAll(RETURN_NODE_FILTERS, cycle);
  const checkDisk = prepareAll([diskAllowSchedulingFilter, diskTagsFilter], cycle);
  return cycle.request.replicas.filter((replica) => {
    if (!mayReturn(replica, cycle.profile)) return false;
    const node = replica.nodeId === undefined ? undefined : cycle.nodesById.get(replica.nodeId);
    if (node === undefined) return false;
    const disk = cycle.disksByNode.get(node.id)?.find(({ id }) => id === replica.diskId);
    if (disk === undefined) return false;
    const isAllowed = checkNode(node) === undefined && checkDisk(disk) === undefined;
    return isAllowed && isReadable(disk, cycle);
  });
}

/** A disk that is booked past its limit takes nothing new, but what lies there may be brought up to date. */
function isReadable(disk: StorageDisk, { fleet }: PlacementCycle): boolean {
  if (conditionOf(disk.conditions, 'Ready')?.status !== 'True') return false;
  const schedulable = conditionOf(disk.conditions, 'Schedulable');
  if (schedulable?.status === 'True') return true;
  return schedulable?.reason === 'DiskPressure' && leavesFreeSpace(disk, 0, spaceLimits(fleet.settings));
}

function onlyNodes(ids: ReadonlySet<NodeId | undefined>): Preparing<StorageNode> {
  return { prepare: () => (node) => (ids.has(node.id) ? undefined : NOT_REUSED) };
}

function onlyDisks(ids: ReadonlySet<DiskId | undefined>): Preparing<StorageDisk> {
  return { prepare: () => (disk) => (ids.has(disk.id) ? undefined : NOT_REUSED) };
}

const NOT_REUSED: Rejection = {
  rule: 'reuse',
  reason: 'DiskNotReused',
  message: 'no failed replica that may return lies there',
  cure: 'wait until a new replica may be built',
};

function failedAtMs({ failedAt }: Replica): number {
  return failedAt?.getTime() ?? 0;
}

/** How long Longhorn waits for a failed replica to come back; 0: a new one may be built now. */
export function newReplicaWaitSeconds(request: PlacementRequest, fleet: FleetView, now: Date): number {
  const degradedAt = request.longhorn?.degradedAt;
  if (degradedAt === undefined || request.requiredNodeId !== undefined) return 0;
  if (!request.replicas.some((replica) => mayReturn(replica, LONGHORN_PROFILE))) return 0;

  const waitSeconds = fleet.settings['replica-replenishment-wait-interval'];
  const remainingSeconds = (degradedAt.getTime() - now.getTime()) / 1000 + waitSeconds;
  // The second on top makes sure that the wait is over when the volume is looked at again.
  return remainingSeconds <= 0 ? 0 : Math.trunc(remainingSeconds + 1);
}
