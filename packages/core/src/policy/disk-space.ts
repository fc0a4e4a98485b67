import { percentOf } from '../model/bytes.js';
import type { StorageDisk } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';

/** The figures of a disk that the space formulas read. */
export type DiskSpace = Pick<
  StorageDisk,
  'storageMaximumBytes' | 'storageAvailableBytes' | 'storageReservedBytes' | 'storageScheduledBytes'
>;

/** What a replica asks of a disk: its nominal size, and what it will hold at once. */
export type SpaceDemand = { readonly sizeBytes: number; readonly writtenBytes: number };

export type SpaceLimits = {
  readonly overProvisioningPercentage: number;
  readonly minimalAvailablePercentage: number;
};

export function spaceLimits(settings: ClusterSettings): SpaceLimits {
  return {
    overProvisioningPercentage: settings['storage-over-provisioning-percentage'],
    minimalAvailablePercentage: settings['storage-minimal-available-percentage'],
  };
}

/** The largest sum of nominal sizes a disk may hold. Negative when the reserve is larger than the disk. */
export function provisionableBytes(disk: DiskSpace, settings: ClusterSettings): number {
  return provisionLimit(disk, spaceLimits(settings));
}

/** Free space at or below which a disk takes no new replica. */
export function minimalAvailableBytes(disk: DiskSpace, settings: ClusterSettings): number {
  return minimumFree(disk, spaceLimits(settings));
}

/**
 * First space formula: what the replica will hold at once has to leave more than the minimum free.
 *
 * `available − written > maximum × minimal-available %`; equality fails. The reserve plays no part in it.
 */
export function leavesFreeSpace(disk: DiskSpace, writtenBytes: number, limits: SpaceLimits): boolean {
  if (disk.storageMaximumBytes <= 0 || disk.storageAvailableBytes <= 0) return false;
  return disk.storageAvailableBytes - writtenBytes > minimumFree(disk, limits);
}

/**
 * Second space formula: nominal sizes may not pass the over-provisioning limit.
 *
 * `size + scheduled ≤ (maximum − reserved) × over-provisioning %`; equality passes.
 */
export function staysProvisionable(disk: DiskSpace, sizeBytes: number, limits: SpaceLimits): boolean {
  return sizeBytes + disk.storageScheduledBytes <= provisionLimit(disk, limits);
}

/** Both formulas. The filters ask them one by one, so that a refusal can say which. */
export function fitsInSpace(disk: DiskSpace, demand: SpaceDemand, limits: SpaceLimits): boolean {
  return (
    leavesFreeSpace(disk, demand.writtenBytes, limits) && staysProvisionable(disk, demand.sizeBytes, limits)
  );
}

function provisionLimit(disk: DiskSpace, { overProvisioningPercentage }: SpaceLimits): number {
  return percentOf(disk.storageMaximumBytes - disk.storageReservedBytes, overProvisioningPercentage);
}

function minimumFree(disk: DiskSpace, { minimalAvailablePercentage }: SpaceLimits): number {
  return percentOf(disk.storageMaximumBytes, minimalAvailablePercentage);
}
