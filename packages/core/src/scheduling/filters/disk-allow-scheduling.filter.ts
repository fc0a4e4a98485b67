import type { DiskFilter } from '../framework.js';

/** Rejects a disk that users keep replicas away from: scheduling is off, or it is being emptied. */
export const diskAllowSchedulingFilter: DiskFilter = {
  name: 'disk-allow-scheduling',

  prepare() {
    return (disk) => {
      if (!disk.allowScheduling) {
        return {
          rule: 'disk-allow-scheduling',
          reason: 'DiskSchedulingDisabled',
          message: `scheduling is off on disk ${disk.name}`,
          cure: `allow scheduling on disk ${disk.name}`,
        };
      }
      if (!disk.evictionRequested) return undefined;
      return {
        rule: 'disk-allow-scheduling',
        reason: 'DiskEvicting',
        message: `disk ${disk.name} is being emptied`,
        cure: `cancel the eviction of disk ${disk.name}`,
      };
    };
  },
};
