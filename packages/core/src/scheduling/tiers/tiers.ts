/**
 * Anti-affinity tiers: sets of nodes from the safest to the least safe. The first tier with a disk that passes wins.
 *
 * | zone      | node      | tiers |
 * |-----------|-----------|-------|
 * | required  | any       | unused node in unused zone, unused node in leaving zone, leaving node in leaving zone |
 * | preferred | required  | unused node in unused zone, unused node, leaving node |
 * | preferred | preferred | unused node in unused zone, unused node, used node |
 *
 * "Leaving" is where every replica is being evicted: its replacement may share the place for a while. A used node
 * includes leaving ones, so the last row has no tier for them. The tier of an unused node in a leaving zone depends on the
 * profile: Longhorn has none.
 */
import { type StorageNode, zoneKey } from '../../model/node.js';
import type { Check, PlacementCycle, Rejection, TierName } from '../framework/framework.js';
import { type Occupancy, replicaOn } from '../framework/occupancy.js';
import { nodeAntiAffinityRule, zoneAntiAffinityRule } from '../framework/sharing-rules.js';

export type Tier = { readonly name: TierName; readonly nodes: readonly StorageNode[] };

/**
 * @param candidates the nodes that passed the node filters
 * @param nodeTags the node selector's check, which the tiers apply because not every profile applies it on all
 */
export function tiersOf(
  cycle: PlacementCycle,
  candidates: readonly StorageNode[],
  occupancy: Occupancy,
  nodeTags: Check<StorageNode>,
): Tier[] {
  const { request, profile } = cycle;
  const tagged = candidates.filter((node) => nodeTags(node) === undefined);
  const sharing = profile.domainSharing(cycle);
  const unused = tagged.filter((node) => !occupancy.nodes.has(node.id) || sharing?.sharesNode(node) === true);
  const leaving = tagged.filter((node) => occupancy.leavingNodes.has(node.id));

  const tiers: Tier[] = [
    {
      name: 'unused-node-in-unused-zone',
      nodes: unused.filter((node) => !occupancy.zones.has(zoneKey(node))),
    },
  ];
  if (request.zoneAntiAffinity === 'required') {
    if (profile.unusedNodeInLeavingZone) {
      const inLeavingZone = unused.filter((node) => occupancy.leavingZones.has(zoneKey(node)));
      tiers.push({ name: 'unused-node-in-leaving-zone', nodes: inLeavingZone });
    }
    const sharesZones = sharing?.sharesZones === true;
    const nodes = leaving.filter((node) => sharesZones || occupancy.leavingZones.has(zoneKey(node)));
    return [...tiers, { name: 'leaving-node-in-leaving-zone', nodes }];
  }
  tiers.push({ name: 'unused-node', nodes: unused });
  if (request.nodeAntiAffinity === 'required') return [...tiers, { name: 'leaving-node', nodes: leaving }];

  const reachable = profile.usedNodeTierHonoursNodeSelector ? tagged : candidates;
  return [...tiers, { name: 'used-node', nodes: reachable.filter((node) => occupancy.nodes.has(node.id)) }];
}

/** Why no tier holds a node that passed the filters. */
export function rejectionByTiers(node: StorageNode, occupancy: Occupancy): Rejection {
  const occupant = occupancy.nodes.get(node.id);
  if (occupant !== undefined) {
    return {
      rule: nodeAntiAffinityRule.name,
      reason: 'NodeOccupied',
      message: `node ${node.name} holds ${replicaOn(occupant)} of this volume`,
      cure: 'add a node, or enable replicaSoftAntiAffinity',
    };
  }
  return {
    rule: zoneAntiAffinityRule.name,
    reason: 'ZoneOccupied',
    message: `zone ${node.zone ?? '(none)'} holds ${replicaOn(occupancy.zones.get(zoneKey(node)))} of this volume`,
    cure: 'add a node in another zone, or enable replicaZoneSoftAntiAffinity',
  };
}
