import { formatBytes } from '../../model/bytes.js';
import type { StorageDisk } from '../../model/node.js';
import { leavesFreeSpace, minimalAvailableBytes, spaceLimits } from '../../policy/disk-space.js';
import type { DiskFilter, Rejection } from '../framework/framework.js';
import { formatSpace } from './format-space.js';

/** Rejects a disk that the replica's data would leave too full: the first space formula. */
export const freeSpaceFilter: DiskFilter<'InsufficientFreeSpace'> = {
  name: 'free-space',
  description: 'Enough space stays free',
  inIndex: 'search',
  reasons: {
    InsufficientFreeSpace: {
      summary: 'insufficient storage (free space)',
      refused: ['disk has too little free space', 'disks have too little free space'],
      detail: (_, numbers) => {
        const left = (numbers?.availableBytes ?? 0) - (numbers?.requiredBytes ?? 0);
        return `at most ${formatSpace(left)} would stay free, and more than ${formatSpace(numbers?.thresholdBytes)} must`;
      },
    },
  },

  prepare({ request, fleet }) {
    if (request.reuseDiskId !== undefined) return undefined;
    const requiredBytes = request.writtenBytes;
    const limits = spaceLimits(fleet.settings);

    return (disk) => {
      if (leavesFreeSpace(disk, requiredBytes, limits)) return undefined;
      return tooFull(disk, requiredBytes, minimalAvailableBytes(disk, fleet.settings));
    };
  },
};

function tooFull(
  disk: StorageDisk,
  requiredBytes: number,
  thresholdBytes: number,
): Rejection<'InsufficientFreeSpace'> {
  const left = formatBytes(disk.storageAvailableBytes - requiredBytes);
  return {
    rule: 'free-space',
    reason: 'InsufficientFreeSpace',
    message: `disk ${disk.name} would have ${left} free and must keep more than ${formatBytes(thresholdBytes)}`,
    cure: `free space on disk ${disk.name}, add a disk, or lower storage-minimal-available-percentage`,
    numbers: { requiredBytes, availableBytes: disk.storageAvailableBytes, thresholdBytes },
  };
}
