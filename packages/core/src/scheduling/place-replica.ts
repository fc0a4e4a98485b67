/**
 * Finds the disk for one replica: filters → tiers → disk anti-affinity → balance (DESIGN section 4).
 *
 * Pure and deterministic. The first rung of the ladder with a disk that passes wins, so a rung is left not only when it
 * has no node but also when its disks are full, tagged otherwise or taken.
 */
import type { FleetView } from '../lifecycle/views.js';
import { compareIds } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import { chooseBalanced } from './balance.js';
import { leastSharedDisks } from './disk-anti-affinity.js';
import { explainRefusal } from './explain.js';
import { diskAllowSchedulingFilter } from './filters/disk-allow-scheduling.filter.js';
import { diskReadyFilter } from './filters/disk-ready.filter.js';
import { diskTagsFilter } from './filters/disk-tags.filter.js';
import { diskTypeFilter } from './filters/disk-type.filter.js';
import { engineAvailableFilter } from './filters/engine-available.filter.js';
import { fileSystemLimitFilter } from './filters/file-system-limit.filter.js';
import { freeSpaceFilter } from './filters/free-space.filter.js';
import { nodeAllowSchedulingFilter } from './filters/node-allow-scheduling.filter.js';
import { nodeReadyFilter } from './filters/node-ready.filter.js';
import { nodeSchedulableFilter } from './filters/node-schedulable.filter.js';
import { nodeTagsFilter } from './filters/node-tags.filter.js';
import { provisionableSpaceFilter } from './filters/provisionable-space.filter.js';
import { requiredNodeFilter } from './filters/required-node.filter.js';
import { reuseDiskFilter } from './filters/reuse-disk.filter.js';
import { topologyFilter } from './filters/topology.filter.js';
import {
  beginCycle,
  type DiskFilter,
  type NodeFilter,
  type Placement,
  type PlacementCycle,
  type PlacementRequest,
  prepareAll,
} from './framework.js';
import { occupancyOf } from './occupancy.js';
import { HOLDFAST_PROFILE, type SchedulingProfile } from './profile.js';
import { type Tier, tiersOf } from './tiers.js';

/** In the order in which they are asked; the first rejection is the one that is shown. */
export const NODE_FILTERS: readonly NodeFilter[] = [
  nodeReadyFilter,
  nodeSchedulableFilter,
  nodeAllowSchedulingFilter,
  requiredNodeFilter,
  topologyFilter,
  engineAvailableFilter,
];

export const DISK_FILTERS: readonly DiskFilter[] = [
  reuseDiskFilter,
  diskReadyFilter,
  diskAllowSchedulingFilter,
  diskTypeFilter,
  fileSystemLimitFilter,
  diskTagsFilter,
  freeSpaceFilter,
  provisionableSpaceFilter,
];

export function placeReplica(
  request: PlacementRequest,
  fleet: FleetView,
  now: Date,
  profile: SchedulingProfile = HOLDFAST_PROFILE,
): Placement {
  const cycle = beginCycle(request, fleet, profile, now);
  const checkNode = prepareAll(NODE_FILTERS, cycle);
  const checkDisk = prepareAll(DISK_FILTERS, cycle);
  const checkNodeTags = prepareAll([nodeTagsFilter], cycle);

  const nodes = fleet.nodes.filter((node) => checkNode(node) === undefined);
  const occupancy = occupancyOf(cycle, nodes);
  const tiers = tiersOf(cycle, nodes, occupancy, checkNodeTags);

  for (const tier of tiers) {
    const passing = tier.nodes
      .flatMap((node) => cycle.disksByNode.get(node.id) ?? [])
      .filter((disk) => checkDisk(disk) === undefined);
    const candidates = leastSharedDisks(cycle, passing, occupancy);
    const disk = choose(cycle, candidates);
    if (disk !== undefined) return placed(disk, tier, candidates);
  }
  const checks = { checkNode, checkNodeTags, checkDisk };
  return { kind: 'refused', refusals: explainRefusal(cycle, checks, tiers, occupancy) };
}

function choose(cycle: PlacementCycle, candidates: readonly StorageDisk[]): StorageDisk | undefined {
  if (candidates.length < 2) return candidates[0];
  const { request, fleet, profile } = cycle;
  const local = candidates.filter((disk) => disk.nodeId === request.localNodeId);
  const alpha = fleet.settings['balance-alpha'];
  const chosenId = chooseBalanced(local.length > 0 ? local : candidates, request.sizeBytes, alpha, profile);
  return candidates.find((disk) => disk.id === chosenId);
}

function placed(disk: StorageDisk, tier: Tier, candidates: readonly StorageDisk[]): Placement {
  return {
    kind: 'placed',
    nodeId: disk.nodeId,
    diskId: disk.id,
    tier: tier.name,
    candidates: candidates.map(({ id }) => id).sort(compareIds),
  };
}
