import { formatBytes } from '../../model/bytes.js';
import type { StorageDisk } from '../../model/node.js';
import { provisionableBytes, spaceLimits, staysProvisionable } from '../../policy/disk-space.js';
import type { DiskFilter, Rejection } from '../framework/framework.js';
import { formatSpace } from './format-space.js';

/**
 * Rejects a disk that the replica's nominal size would take past its limit: the second space formula.
 *
 * What was booked earlier in the same pass counts too, whether or not the disk's own figure has it yet.
 */
export const provisionableSpaceFilter: DiskFilter<'InsufficientProvisionableSpace'> = {
  name: 'provisionable-space',
  description: 'Enough space is left to promise',
  inIndex: 'search',
  reasons: {
    InsufficientProvisionableSpace: {
      summary: 'insufficient storage (over-provisioning)',
      refused: ['disk has too little left to give', 'disks have too little left to give'],
      detail: (_, numbers) => `${formatSpace(numbers?.availableBytes)} at most`,
    },
  },

  prepare({ request, fleet }) {
    if (request.reuseDiskId !== undefined) return undefined;
    const { sizeBytes } = request;
    const limits = spaceLimits(fleet.settings);

    return (disk) => {
      const unrecordedBytes = request.unrecordedBytes?.get(disk.id) ?? 0;
      if (staysProvisionable(disk, sizeBytes + unrecordedBytes, limits)) return undefined;
      return overBooked(disk, sizeBytes, provisionableBytes(disk, fleet.settings) - unrecordedBytes);
    };
  },
};

function overBooked(
  disk: StorageDisk,
  sizeBytes: number,
  limitBytes: number,
): Rejection<'InsufficientProvisionableSpace'> {
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
