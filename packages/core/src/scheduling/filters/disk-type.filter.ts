import type { DiskFilter } from '../framework.js';

/** Rejects a disk of the wrong kind: engine v1 keeps files, v2 keeps ranges of a block device. */
export const diskTypeFilter: DiskFilter = {
  name: 'disk-type',

  prepare({ request }) {
    const wanted = request.dataEngine === 'v1' ? 'filesystem' : 'block';

    return (disk) => {
      if (disk.type === wanted) return undefined;
      return {
        rule: 'disk-type',
        reason: 'DiskTypeMismatch',
        message: `disk ${disk.name} is a ${disk.type} disk, engine ${request.dataEngine} needs a ${wanted} disk`,
        cure: `add a ${wanted} disk`,
      };
    };
  },
};
