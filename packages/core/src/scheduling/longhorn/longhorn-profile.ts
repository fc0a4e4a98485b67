import { isPotentiallyReusable, type Replica } from '../../model/replica.js';
import { diskReadyFilter } from '../filters/disk-ready.filter.js';
import { nodeSchedulableFilter } from '../filters/node-schedulable.filter.js';
import { PLACEMENT_RULES } from '../filters/rules.js';
import type { PlacementCycle, PlacementRules, SchedulingProfile } from '../framework/framework.js';
import { autoBalanceSharing } from './auto-balance.js';
import { acceptableByLeastRange } from './least-range.js';
import { recordedDiskFilter, recordedSchedulableFilter } from './recorded-conditions.filter.js';

/** Our rules, but conditions of nodes and disks are read as recorded and not worked out from the facts. */
const LONGHORN_RULES: PlacementRules = {
  ...PLACEMENT_RULES,
  nodeFilters: PLACEMENT_RULES.nodeFilters.map((filter) =>
    filter === nodeSchedulableFilter ? recordedSchedulableFilter : filter,
  ),
  diskFilters: PLACEMENT_RULES.diskFilters.map((filter) =>
    filter === diskReadyFilter ? recordedDiskFilter : filter,
  ),
};

/**
 * Does what Longhorn's code does, quirks included, to predict an imported cluster; `packages/core/test/vectors` hold its
 * decisions.
 */
export const LONGHORN_PROFILE: SchedulingProfile = {
  name: 'longhorn',
  rules: LONGHORN_RULES,
  occupants: 'on-candidate-nodes',
  sharedDisks: 'any',
  usedNodeTierHonoursNodeSelector: false,
  unusedNodeInLeavingZone: false,
  writtenDataCounts: 'twice',
  deletedReplicasMayReturn: true,
  // Only a controller's mark makes a replica leave.
  isLeaving: ({ intent }) => intent === 'evict',
  placeHeldUntil: placeHeldWhileDegraded,
  domainSharing: autoBalanceSharing,
  chooseDisk({ request }, disks) {
    const sizeBytes = request.longhorn?.replicaSizeBytes ?? request.sizeBytes;
    return acceptableByLeastRange(disks, sizeBytes)[0]?.diskId;
  },
};

/** One clock for all of a volume's failed replicas: since when it is degraded. It stands still unless it is. */
function placeHeldWhileDegraded(replica: Replica, { request, fleet }: PlacementCycle): Date | undefined {
  if (replica.failedAt === undefined) return undefined;
  if (!isPotentiallyReusable(replica)) return replica.failedAt;
  const degradedAt = request.longhorn?.degradedAt;
  const waitSeconds = fleet.settings['replica-replenishment-wait-interval'];
  return degradedAt === undefined ? undefined : new Date(degradedAt.getTime() + waitSeconds * 1000);
}
