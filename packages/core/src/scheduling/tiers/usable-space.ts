import type { StorageDisk } from '../../model/node.js';
import type { DiskSpace } from '../../policy/disk-space.js';
import type { SchedulingProfile } from '../framework/framework.js';

/**
 * What is left on a disk once every replica booked there is fully written; may be negative, since thin provisioning is
 * lawful.
 *
 * A written byte has already left `available`; counting it again as booked would make a full disk look overdrawn
 * twice. So only the unwritten part of what is booked is taken off (docs/design/scheduling.md).
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
