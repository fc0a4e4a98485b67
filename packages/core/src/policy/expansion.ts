/** May the replicas of a volume on a disk grow? (docs/longhorn-rules.md) */
import { percentOf } from '../model/bytes.js';
import { type DiskSpace, fitsInSpace, type SpaceLimits } from './disk-space.js';

/**
 * @param growthBytes of all the volume's replicas on this disk together
 */
export function fitsExpansion(disk: DiskSpace, growthBytes: number, limits: SpaceLimits): boolean {
  if (growthBytes <= 0) return true;
  const asNewReplica = { sizeBytes: growthBytes, writtenBytes: 0 };
  return survivesGrowth(disk, growthBytes, limits) && fitsInSpace(disk, asNewReplica, limits);
}

/**
 * The worst case, in which all that grows is written at once: the disk keeps its minimum free and stays within its
 * limit. Unlike for a new replica, exactly the minimum is enough.
 */
export function survivesGrowth(disk: DiskSpace, growthBytes: number, limits: SpaceLimits): boolean {
  if (growthBytes <= 0) return true;
  const { storageMaximumBytes, storageAvailableBytes, storageReservedBytes } = disk;
  if (storageMaximumBytes <= 0 || storageAvailableBytes <= 0) return false;

  const usedAfterBytes = storageMaximumBytes - storageAvailableBytes - storageReservedBytes + growthBytes;
  const minimumBytes = percentOf(storageMaximumBytes, limits.minimalAvailablePercentage);
  const limitBytes = percentOf(storageMaximumBytes - storageReservedBytes, limits.overProvisioningPercentage);
  return storageMaximumBytes - usedAfterBytes >= minimumBytes && usedAfterBytes <= limitBytes;
}
