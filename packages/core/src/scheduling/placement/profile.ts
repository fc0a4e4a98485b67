import type { StorageDisk } from '../../model/node.js';
import { isEvicting } from '../../model/volume-facts.js';
import { PLACEMENT_RULES } from '../filters/rules.js';
import type { PlacementCycle, SchedulingProfile } from '../framework/framework.js';
import { placeHeldUntil, returnFacts } from '../framework/occupancy.js';
import { chooseBalanced } from '../tiers/balance.js';

/** What places replicas here. */
export const HOLDFAST_PROFILE: SchedulingProfile = {
  name: 'holdfast',
  rules: PLACEMENT_RULES,
  occupants: 'all-placed',
  sharedDisks: 'fewest-replicas',
  usedNodeTierHonoursNodeSelector: true,
  unusedNodeInLeavingZone: true,
  writtenDataCounts: 'once',
  deletedReplicasMayReturn: false,
  isLeaving: (replica, { fleet, request }) => isEvicting(replica, fleet, request.replicas),
  placeHeldUntil: (replica, { request, fleet }) =>
    placeHeldUntil(replica, returnFacts(request.replicas, fleet)),
  domainSharing: () => undefined,
  chooseDisk: chooseMostEven,
};

function chooseMostEven({ request, fleet, profile }: PlacementCycle, disks: readonly StorageDisk[]) {
  const { sizeBytes, diskChoice = 'spread' } = request;
  return chooseBalanced(disks, { sizeBytes, alpha: fleet.settings['balance-alpha'], diskChoice }, profile);
}
