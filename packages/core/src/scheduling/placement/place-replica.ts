/**
 * Finds the disk for one replica: filters → tiers → disk anti-affinity → balance.
 *
 * Pure and deterministic. The first tier with a disk that passes wins, so the next tier is tried not only when a tier has
 * no node but also when its disks are full, tagged otherwise or taken.
 */

import { Bug } from '../../model/faults.js';
import { compareIds } from '../../model/ids.js';
import type { StorageDisk } from '../../model/node.js';
import type { FleetView } from '../../model/views.js';
import {
  beginCycle,
  type CandidateRefusal,
  type Placement,
  type PlacementCycle,
  prepareAll,
  type RuleSet,
  type SchedulingProfile,
} from '../framework/framework.js';
import { type Occupancy, occupancyOf } from '../framework/occupancy.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { leastSharedDisks } from '../tiers/disk-anti-affinity.js';
import { preferLocal } from '../tiers/locality.js';
import { type Tier, tiersOf } from '../tiers/tiers.js';
import { type CycleChecks, explainRefusal } from './explain.js';
import { HOLDFAST_PROFILE } from './profile.js';

export function placeReplica(
  request: PlacementRequest,
  fleet: FleetView,
  now: Date,
  profile: SchedulingProfile = HOLDFAST_PROFILE,
): Placement {
  const cycle = beginCycle(request, fleet, profile, now);
  const decision = decidePlacement(cycle);
  if (decision.kind === 'placed') return decision;
  return refused(() => explainRefusal(cycle, decision.checks, decision.tiers, decision.occupancy));
}

/** Its words cost more than the decision and not every caller wants them: they are made when they are read. */
function refused(explain: () => readonly CandidateRefusal[]): Placement {
  let known: readonly CandidateRefusal[] | undefined;
  return {
    kind: 'refused',
    get refusals() {
      known ??= explain();
      return known;
    },
  };
}

/** The decision alone. Words for a refusal cost more than it does, and not every caller wants them. */
export function decidePlacement(cycle: PlacementCycle): Placed | Unplaced {
  const found = findCandidates(cycle, cycle.profile.rules);
  if (found.kind === 'none') return found;
  const disk = choose(cycle, found.candidates);
  if (disk === undefined) throw new Bug('a tier with candidates gave no disk');
  return placed(disk, found.tier, found.candidates);
}

type Placed = Extract<Placement, { kind: 'placed' }>;

type Unplaced = {
  readonly kind: 'none';
  readonly tiers: readonly Tier[];
  readonly checks: CycleChecks;
  readonly occupancy: Occupancy;
};

type Candidates =
  | { readonly kind: 'found'; readonly tier: Tier; readonly candidates: readonly StorageDisk[] }
  | Unplaced;

/** The disks of the first tier that has any left. */
export function findCandidates(cycle: PlacementCycle, { nodeFilters, diskFilters }: RuleSet): Candidates {
  const checkNode = prepareAll(nodeFilters, cycle);
  const checkDisk = prepareAll(diskFilters, cycle);
  const checkNodeTags = prepareAll(cycle.profile.rules.nodeTagFilters, cycle);

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
  const chosenId = cycle.profile.chooseDisk(cycle, preferred);
  return preferred.find((disk) => disk.id === chosenId);
}

function placed(disk: StorageDisk, tier: Tier, candidates: readonly StorageDisk[]): Placed {
  return {
    kind: 'placed',
    nodeId: disk.nodeId,
    diskId: disk.id,
    tier: tier.name,
    candidates: candidates.map(({ id }) => id).sort(compareIds),
  };
}
