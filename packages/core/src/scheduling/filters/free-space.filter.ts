import { formatBytes } from '../../model/bytes.js';
import type { StorageDisk } from '../../model/node.js';
import type { DiskFilter, Rejection } from '../framework.js';
import { minimalAvailableBytes } from '../space.js';

/**
 * First space formula: what the replica will hold at once has to leave more than the minimum free.
 *
 * `available − written > maximum × minimal-available %`; equality fails. The reserve plays no part in it.
 */
export const freeSpaceFilter: DiskFilter = {
  name: 'free-space',

  prepare({ request, fleet }) {
    if (request.reuseDiskId !== undefined) return undefined;
    const requiredBytes = request.writtenBytes;

    return (disk) => {
      const thresholdBytes = minimalAvailableBytes(disk, fleet.settings);
      const hasSpace = disk.storageMaximumBytes > 0 && disk.storageAvailableBytes > 0;
      if (hasSpace && disk.storageAvailableBytes - requiredBytes > thresholdBytes) return undefined;
      return tooFull(disk, requiredBytes, thresholdBytes);
    };
  },
};

function tooFull(disk: StorageDisk, requiredBytes: number, thresholdBytes: number): Rejection {
  const left = formatBytes(disk.storageAvailableBytes - requiredBytes);
  return {
    rule: 'free-space',
    reason: 'InsufficientFreeSpace',
    message: `disk ${disk.name} would have ${left} free and must keep more than ${formatBytes(thresholdBytes)}`,
    cure: `free space on disk ${disk.name}, add a disk, or lower storage-minimal-available-percentage`,
    numbers: { requiredBytes, availableBytes: disk.storageAvailableBytes, thresholdBytes },
  };
}
