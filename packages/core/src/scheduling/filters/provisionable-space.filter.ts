import { formatBytes } from '../../model/bytes.js';
import type { StorageDisk } from '../../model/node.js';
import type { DiskFilter, Rejection } from '../framework.js';
import { provisionableBytes } from '../space.js';

/**
 * Second space formula: nominal sizes may not pass the over-provisioning limit.
 *
 * `size + scheduled ≤ (maximum − reserved) × over-provisioning %`; equality passes. `scheduled` holds what was booked
 * earlier in the same pass too.
 */
export const provisionableSpaceFilter: DiskFilter = {
  name: 'provisionable-space',

  prepare({ request, fleet }) {
    if (request.reuseDiskId !== undefined) return undefined;
    const { sizeBytes } = request;

    return (disk) => {
      const limitBytes = provisionableBytes(disk, fleet.settings);
      if (sizeBytes + disk.storageScheduledBytes <= limitBytes) return undefined;
      return overBooked(disk, sizeBytes, limitBytes);
    };
  },
};

function overBooked(disk: StorageDisk, sizeBytes: number, limitBytes: number): Rejection {
  const availableBytes = limitBytes - disk.storageScheduledBytes;
  return {
    rule: 'provisionable-space',
    reason: 'InsufficientProvisionableSpace',
    message:
      `disk ${disk.name} has ${formatBytes(Math.max(0, availableBytes))} of ${formatBytes(limitBytes)} ` +
      `left to give and the replica needs ${formatBytes(sizeBytes)}`,
    cure: `add a disk, remove volumes, lower the reserve of disk ${disk.name}, or raise storage-over-provisioning-percentage`,
    numbers: { requiredBytes: sizeBytes, availableBytes, thresholdBytes: limitBytes },
  };
}
