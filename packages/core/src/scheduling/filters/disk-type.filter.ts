import type { DataEngine, DiskType } from '../../model/node.js';
import type { DiskFilter } from '../framework/framework.js';

/** Rejects a disk of the wrong kind: engine v1 keeps files, v2 keeps ranges of a block device. */
export const diskTypeFilter: DiskFilter<'DiskTypeMismatch'> = {
  name: 'disk-type',
  description: 'Disk is of the right type',
  inIndex: 'kind',
  reasons: {
    DiskTypeMismatch: {
      summary: 'wrong disk type',
      refused: ['disk is of the wrong type', 'disks are of the wrong type'],
      detail: ({ dataEngine }) => `engine ${dataEngine} needs a ${diskTypeOf(dataEngine)} disk`,
    },
  },

  prepare({ request }) {
    const wanted = diskTypeOf(request.dataEngine);

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

export function diskTypeOf(engine: DataEngine): DiskType {
  return engine === 'v1' ? 'filesystem' : 'block';
}
