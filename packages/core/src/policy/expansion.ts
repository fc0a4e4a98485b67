/** May the replicas of a volume on a disk grow? (docs/longhorn-rules.md) */
import { percentOf } from '../model/bytes.js';
import { type DiskSpace, fitsInSpace, leavesFreeSpace, type SpaceLimits } from './disk-space.js';

/**
 * @param growthBytes of all the volume's replicas on this disk together
 */
export function fitsExpansion(disk: DiskSpace, growthBytes: number, limits: SpaceLimits): boolean {
  if (growthBytes <= 0) return true;
  const asNewReplica = { sizeBytes: growthBytes, writtenBytes: 0 };
  return survivesGrowth(disk, growthBytes, limits) && fitsInSpace(disk, asNewReplica, limits);
}

/** By how much the volume's replicas on a disk may grow together, and the setting that allows no more. */
export type GrowthRoom = {
  readonly bytes: number;
  readonly setting: 'storage-over-provisioning-percentage' | 'storage-minimal-available-percentage';
};

/** The largest growth that `fitsExpansion` lets pass; 0 where none does. */
export function growthRoom(disk: DiskSpace, limits: SpaceLimits): GrowthRoom {
  const { storageMaximumBytes, storageAvailableBytes, storageReservedBytes, storageScheduledBytes } = disk;
  const usedBytes = storageMaximumBytes - storageAvailableBytes - storageReservedBytes;
  const limitBytes = percentOf(storageMaximumBytes - storageReservedBytes, limits.overProvisioningPercentage);
  const ofLimit = limitBytes - Math.max(usedBytes, storageScheduledBytes);
  const minimumBytes = percentOf(storageMaximumBytes, limits.minimalAvailablePercentage);
  const ofMinimum = leavesFreeSpace(disk, 0, limits) ? storageMaximumBytes - minimumBytes - usedBytes : 0;
  return ofLimit < ofMinimum
    ? { bytes: Math.max(0, ofLimit), setting: 'storage-over-provisioning-percentage' }
    : { bytes: Math.max(0, ofMinimum), setting: 'storage-minimal-available-percentage' };
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
