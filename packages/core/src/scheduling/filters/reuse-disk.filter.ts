import type { DiskFilter } from '../framework.js';

/** Rejects every disk but the one that holds the failed replica which is to be reused. */
export const reuseDiskFilter: DiskFilter = {
  name: 'reuse-disk',

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
