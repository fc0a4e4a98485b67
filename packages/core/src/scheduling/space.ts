import { percentOf } from '../model/bytes.js';
import type { StorageDisk } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';
import type { SchedulingProfile } from './profile.js';

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

/**
 * What is left on a disk once every replica booked there is fully written; may be negative, since thin provisioning is
 * lawful.
 *
 * A written byte has already left `available`; counting it again as booked would make a full disk look overdrawn
 * twice. So only the unwritten part of what is booked is taken off (docs/adr/0056-usable-space-counts-written-data-once.md).
 */
export function usableBytes(
  disk: DiskSpace & Pick<StorageDisk, 'writtenBytes'>,
  profile: SchedulingProfile,
): number {
  const written = profile.writtenDataCounts === 'once' ? disk.writtenBytes : 0;
  const { storageAvailableBytes, storageReservedBytes, storageScheduledBytes } = disk;
  return usableOnceWritten(storageAvailableBytes, storageReservedBytes, storageScheduledBytes, written);
}

/** The formula of `usableBytes`, for a caller that has no disk object but its figures. */
export function usableOnceWritten(
  availableBytes: number,
  reservedBytes: number,
  scheduledBytes: number,
  writtenBytes: number,
): number {
  return availableBytes - reservedBytes - Math.max(0, scheduledBytes - writtenBytes);
}

/** The capacity that `usable` is a share of. */
export function totalBytes(disk: DiskSpace): number {
  return Math.max(0, disk.storageMaximumBytes - disk.storageReservedBytes);
}
