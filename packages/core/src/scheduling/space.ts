import { percentOf } from '../model/bytes.js';
import type { StorageDisk } from '../model/node.js';
import type { ClusterSettings } from '../settings/definitions.js';
import type { SchedulingProfile } from './profile.js';

/** The largest sum of nominal sizes a disk may hold. Negative when the reserve is larger than the disk. */
export function provisionableBytes(disk: StorageDisk, settings: ClusterSettings): number {
  const overProvisioning = settings['storage-over-provisioning-percentage'];
  return percentOf(disk.storageMaximumBytes - disk.storageReservedBytes, overProvisioning);
}

/** Free space at or below which a disk takes no new replica. */
export function minimalAvailableBytes(disk: StorageDisk, settings: ClusterSettings): number {
  return percentOf(disk.storageMaximumBytes, settings['storage-minimal-available-percentage']);
}

/**
 * What is left on a disk once every replica booked there is fully written; may be negative, since thin provisioning is
 * lawful.
 *
 * A written byte has already left `available`; counting it again as booked would make a full disk look overdrawn
 * twice. So only the unwritten part of what is booked is taken off (DESIGN section 4).
 */
export function usableBytes(disk: StorageDisk, profile: SchedulingProfile): number {
  const written = profile.writtenDataCounts === 'once' ? disk.writtenBytes : 0;
  const promised = Math.max(0, disk.storageScheduledBytes - written);
  return disk.storageAvailableBytes - disk.storageReservedBytes - promised;
}

/** The capacity that `usable` is a share of. */
export function totalBytes(disk: StorageDisk): number {
  return Math.max(0, disk.storageMaximumBytes - disk.storageReservedBytes);
}
