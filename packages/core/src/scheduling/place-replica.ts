/**
 * Finds the disk for one replica: filters → tiers → disk anti-affinity → balance (DESIGN section 4).
 *
 * Pure and deterministic. The first rung of the ladder with a disk that passes wins, so a rung is left not only when it
 * has no node but also when its disks are full, tagged otherwise or taken.
 */
import type { FleetView } from '../lifecycle/views.js';
import { Bug } from '../model/faults.js';
import { compareIds } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import { chooseBalanced } from './balance.js';
import { leastSharedDisks } from './disk-anti-affinity.js';
import { type CycleChecks, explainRefusal } from './explain.js';
import { backingImageDiskFilter, backingImageNodeFilter } from './filters/backing-image.filter.js';
import { diskAllowSchedulingFilter } from './filters/disk-allow-scheduling.filter.js';
import { diskReadyFilter } from './filters/disk-ready.filter.js';
import { diskTagsFilter } from './filters/disk-tags.filter.js';
import { diskTypeFilter } from './filters/disk-type.filter.js';
import { engineAvailableFilter } from './filters/engine-available.filter.js';
import { fileSystemLimitFilter } from './filters/file-system-limit.filter.js';
import { freeSpaceFilter } from './filters/free-space.filter.js';
import { linkedCloneDiskFilter, linkedCloneNodeFilter } from './filters/linked-clone.filter.js';
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
  type RuleSet,
} from './framework.js';
import { acceptableByLeastRange } from './least-range.js';
import { preferLocal } from './locality.js';
import { type Occupancy, occupancyOf } from './occupancy.js';
import { HOLDFAST_PROFILE, type SchedulingProfile } from './profile.js';
import { type Tier, tiersOf } from './tiers.js';

/** In the order in which they are asked; the first rejection is the one that is shown. */
export const NODE_FILTERS: readonly NodeFilter[] = [
  nodeReadyFilter,
  nodeSchedulableFilter,
  nodeAllowSchedulingFilter,
  linkedCloneNodeFilter,
  requiredNodeFilter,
  topologyFilter,
  engineAvailableFilter,
];

export const DISK_FILTERS: readonly DiskFilter[] = [
  reuseDiskFilter,
  diskReadyFilter,
  diskAllowSchedulingFilter,
  linkedCloneDiskFilter,
  diskTypeFilter,
  fileSystemLimitFilter,
  diskTagsFilter,
  backingImageDiskFilter,
  freeSpaceFilter,
  provisionableSpaceFilter,
];

/** Asked after occupancy is known, because a profile may leave them out on its last rung. */
const NODE_TAG_FILTERS: readonly NodeFilter[] = [nodeTagsFilter, backingImageNodeFilter];

/** The rules for a new replica, or for the one disk that a request names for reuse. */
const PLACEMENT_RULES: RuleSet = { nodeFilters: NODE_FILTERS, diskFilters: DISK_FILTERS };

export function placeReplica(
  request: PlacementRequest,
  fleet: FleetView,
  now: Date,
  profile: SchedulingProfile = HOLDFAST_PROFILE,
): Placement {
  const cycle = beginCycle(request, fleet, profile, now);
  const found = findCandidates(cycle, PLACEMENT_RULES);
  if (found.kind === 'none') {
    return { kind: 'refused', refusals: explainRefusal(cycle, found.checks, found.tiers, found.occupancy) };
  }
  const disk = choose(cycle, found.candidates);
  if (disk === undefined) throw new Bug('a rung with candidates gave no disk');
  return placed(disk, found.tier, found.candidates);
}

type Candidates =
  | { readonly kind: 'found'; readonly tier: Tier; readonly candidates: readonly StorageDisk[] }
  | {
      readonly kind: 'none';
      readonly tiers: readonly Tier[];
      readonly checks: CycleChecks;
      readonly occupancy: Occupancy;
    };

/** The disks of the first rung that has any left. */
export function findCandidates(cycle: PlacementCycle, { nodeFilters, diskFilters }: RuleSet): Candidates {
  const checkNode = prepareAll(nodeFilters, cycle);
  const checkDisk = prepareAll(diskFilters, cycle);
  const checkNodeTags = prepareAll(NODE_TAG_FILTERS, cycle);

  const nodes = cycle.fleet.nodes.filter((node) => checkNode(node) === undefined);
  const occupancy = occupancyOf(cycle, nodes);
  const tiers = tiersOf(cycle, nodes, occupancy, checkNodeTags);

  for (const tier of tiers) {
    const passing = tier.nodes
      .flatMap((node) => cycle.disksByNode.get(node.id) ?? [])
      .filter((disk) => checkDisk(disk) === undefined);
    const candidates = leastSharedDisks(cycle, passing, occupancy);
    if (candidates.length > 0) return { kind: 'found', tier, candidates };
  }
  return { kind: 'none', tiers, checks: { checkNode, checkNodeTags, checkDisk }, occupancy };
}

function choose(cycle: PlacementCycle, candidates: readonly StorageDisk[]): StorageDisk | undefined {
  if (candidates.length < 2) return candidates[0];
  const preferred = preferLocal(cycle.request, candidates);
  const chosenId = chosenDiskId(cycle, preferred);
  return preferred.find((disk) => disk.id === chosenId);
}

function chosenDiskId({ request, fleet, profile }: PlacementCycle, disks: readonly StorageDisk[]) {
  if (profile.choice === 'least-range') {
    const sizeBytes = request.longhorn?.replicaSizeBytes ?? request.sizeBytes;
    return acceptableByLeastRange(disks, sizeBytes)[0]?.diskId;
  }
  return chooseBalanced(disks, request.sizeBytes, fleet.settings['balance-alpha'], profile);
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
