import type { DiskFilter } from '../framework/framework.js';

/** Rejects every disk but the one that holds the failed replica which is to be reused. */
export const reuseDiskFilter: DiskFilter<'DiskNotReused'> = {
  name: 'reuse-disk',
  description: 'Disk holds the failed copy',
  inIndex: { concerns: ({ reuseDiskId }) => reuseDiskId !== undefined },
  reasons: {
    DiskNotReused: {
      summary: 'not the disk of the failed replica',
      refused: ['disk does not hold the failed replica', 'disks do not hold the failed replica'],
    },
  },

  prepare({ request }) {
    const { reuseDiskId } = request;
    if (reuseDiskId === undefined) return undefined;

    return (disk) => {
      if (disk.id === reuseDiskId) return undefined;
      return {
        rule: 'reuse-disk',
        reason: 'DiskNotReused',
        message: `disk ${disk.name} does not hold the failed replica`,
        cure: 'wait until a new replica may be built',
      };
    };
  },
};
