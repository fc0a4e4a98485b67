import { namesOf } from '../framework/cure-change.js';
import type { DiskFilter } from '../framework/framework.js';

/** Rejects a disk that users keep replicas away from: scheduling is off, or it is being emptied. */
export const diskAllowSchedulingFilter: DiskFilter<'DiskSchedulingDisabled' | 'DiskEvicting'> = {
  name: 'disk-allow-scheduling',
  description: 'Disk takes replicas',
  inIndex: 'state',
  reasons: {
    DiskSchedulingDisabled: {
      summary: 'disk scheduling off',
      refused: ['disk takes no replicas', 'disks take no replicas'],
      cures: (disk, { node }) => [{ kind: 'enable-disk-scheduling', ...namesOf(node, disk) }],
    },
    DiskEvicting: {
      summary: 'disk being emptied',
      refused: ['disk is being emptied', 'disks are being emptied'],
      cures: (disk, { node }) => [{ kind: 'cancel-disk-eviction', ...namesOf(node, disk) }],
    },
  },

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
