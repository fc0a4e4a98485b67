import type { DomainSharing, PlacementCycle } from '../framework/framework.js';
import { isUnderPressure } from '../tiers/disk-pressure.js';

/**
 * Best-effort auto-balance counts an occupied node as unused while one of its disks is under pressure, so that balancing
 * can move a replica from one of its disks to another, and lets an evicted replica's replacement share a zone with one
 * that stays.
 */
export function autoBalanceSharing({
  request,
  fleet,
  disksByNode,
}: PlacementCycle): DomainSharing | undefined {
  if (request.longhorn?.autoBalance !== 'best-effort') return undefined;
  const pressurePercentage = fleet.settings['replica-auto-balance-disk-pressure-percentage'];
  return {
    sharesNode: (node) =>
      pressurePercentage !== 0 &&
      (disksByNode.get(node.id) ?? []).some((disk) => isUnderPressure(disk, pressurePercentage)),
    sharesZones: true,
  };
}
