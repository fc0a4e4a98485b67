/**
 * Smallest change that lets a space formula pass. It is found by bisection with the formula itself, so that it
 * is exact to the byte and to the percent however the formula rounds; no copy of a formula can go stale here.
 */
import { VOLUME_BYTES_MAX } from '../../model/bytes.js';
import type { StorageDisk } from '../../model/node.js';
import { SETTINGS } from '../../model/setting.js';
import {
  type DiskSpace,
  fitsInSpace,
  leavesFreeSpace,
  type SpaceDemand,
  type SpaceLimits,
  staysProvisionable,
} from '../../policy/disk-space.js';

/** Bytes to delete from the disk, 0 for none; `undefined` when even an empty disk would not do. */
export function leastToFree(disk: StorageDisk, writtenBytes: number, limits: SpaceLimits) {
  const usedBytes = disk.storageMaximumBytes - disk.storageAvailableBytes;
  return leastThat(usedBytes, (bytes) =>
    leavesFreeSpace(
      { ...disk, storageAvailableBytes: disk.storageAvailableBytes + bytes },
      writtenBytes,
      limits,
    ),
  );
}

/** Nominal bytes to take off the disk, 0 for none; `undefined` when the size alone is past the limit. */
export function leastToRelease(disk: StorageDisk, sizeBytes: number, limits: SpaceLimits) {
  return leastThat(disk.storageScheduledBytes, (bytes) =>
    staysProvisionable(
      { ...disk, storageScheduledBytes: disk.storageScheduledBytes - bytes },
      sizeBytes,
      limits,
    ),
  );
}

/** By how much the reserve would have to shrink. */
export function leastOffReserve(disk: StorageDisk, sizeBytes: number, limits: SpaceLimits) {
  return leastThat(disk.storageReservedBytes, (bytes) =>
    staysProvisionable(
      { ...disk, storageReservedBytes: disk.storageReservedBytes - bytes },
      sizeBytes,
      limits,
    ),
  );
}

/** The highest minimum in per cent, below today's, at which the disk has enough free. */
export function highestMinimalAvailable(disk: StorageDisk, writtenBytes: number, limits: SpaceLimits) {
  const today = limits.minimalAvailablePercentage;
  const less = leastThat(today, (points) =>
    leavesFreeSpace(disk, writtenBytes, { ...limits, minimalAvailablePercentage: today - points }),
  );
  return less === undefined ? undefined : today - less;
}

/** The lowest over-provisioning in per cent, above today's, at which the disk may be booked. */
export function lowestOverProvisioning(disk: StorageDisk, sizeBytes: number, limits: SpaceLimits) {
  const today = limits.overProvisioningPercentage;
  const more = leastThat(SETTINGS['storage-over-provisioning-percentage'].max - today, (points) =>
    staysProvisionable(disk, sizeBytes, { ...limits, overProvisioningPercentage: today + points }),
  );
  return more === undefined ? undefined : today + more;
}

/** The smallest empty disk that takes the replica. */
export function smallestDisk(demand: SpaceDemand, limits: SpaceLimits): number | undefined {
  return leastThat(VOLUME_BYTES_MAX, (bytes) => {
    const empty: DiskSpace = {
      storageMaximumBytes: bytes,
      storageAvailableBytes: bytes,
      storageReservedBytes: 0,
      storageScheduledBytes: 0,
    };
    return fitsInSpace(empty, demand, limits);
  });
}

/** At most 53 halvings: `max` is a whole number that a double holds. `passes` has to stay true once it is. */
function leastThat(max: number, passes: (amount: number) => boolean): number | undefined {
  if (max < 0 || !passes(max)) return undefined;
  let [fails, fits] = [-1, max];
  while (fits - fails > 1) {
    const middle = fails + Math.floor((fits - fails) / 2);
    if (passes(middle)) fits = middle;
    else fails = middle;
  }
  return fits;
}
