import type { StorageDisk, StorageNode } from '../../model/node.js';
import { spaceLimits } from '../../policy/disk-space.js';
import type { CureChange } from '../framework/cure-change.js';
import type { PlacementCycle } from '../framework/framework.js';
import {
  highestMinimalAvailable,
  leastOffReserve,
  leastToFree,
  leastToRelease,
  lowestOverProvisioning,
} from './smallest-amounts.js';

type Place = { readonly node: StorageNode; readonly disk: StorageDisk };

/** What would make a disk roomy enough, each the least of its kind. Settings help only where one formula refused. */
export function spaceCures(
  { node, disk }: Place,
  refused: readonly string[],
  { request, fleet }: PlacementCycle,
): CureChange[] {
  const { sizeBytes, writtenBytes } = request;
  const limits = spaceLimits(fleet.settings);
  const named = { nodeId: node.id, nodeName: node.name, diskId: disk.id, diskName: disk.name };
  const cures: CureChange[] = [];

  const freeBytes = leastToFree(disk, writtenBytes, limits);
  const releaseBytes = leastToRelease(disk, sizeBytes, limits);
  if (freeBytes !== undefined && releaseBytes !== undefined) {
    cures.push({ kind: 'free-space', freeBytes, releaseBytes, ...named });
  }
  if (refused.length > 1) return cures;

  if (refused.includes('InsufficientFreeSpace')) {
    const to = highestMinimalAvailable(disk, writtenBytes, limits);
    const setting = 'storage-minimal-available-percentage';
    if (to !== undefined)
      cures.push({ kind: 'set-setting', setting, from: limits.minimalAvailablePercentage, to });
    return cures;
  }
  const lessReserve = leastOffReserve(disk, sizeBytes, limits);
  if (lessReserve !== undefined) {
    const fromBytes = disk.storageReservedBytes;
    cures.push({ kind: 'lower-reserve', fromBytes, toBytes: fromBytes - lessReserve, ...named });
  }
  const to = lowestOverProvisioning(disk, sizeBytes, limits);
  const setting = 'storage-over-provisioning-percentage';
  if (to !== undefined)
    cures.push({ kind: 'set-setting', setting, from: limits.overProvisioningPercentage, to });
  return cures;
}
