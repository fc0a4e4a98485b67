import { conditionOf } from '../../model/condition.js';
import type { StorageDisk } from '../../model/node.js';
import { namesOf } from '../framework/cure-change.js';
import type { DiskFilter, Rejection } from '../framework/framework.js';

/** Rejects a disk that its agent says is not usable. */
export const diskReadyFilter: DiskFilter<'DiskNotReady'> = {
  name: 'disk-ready',
  description: 'Disk is ready',
  inIndex: 'state',
  reasons: {
    DiskNotReady: {
      summary: 'disk not ready',
      refused: ['disk is not ready', 'disks are not ready'],
      cures: (disk, { node }) => [{ kind: 'repair-disk', ...namesOf(node, disk) }],
    },
  },

  prepare: () => (disk) => diskReadyRejection(disk, 'Ready'),
};

/** @param type the condition that says whether the disk is usable */
export function diskReadyRejection(
  disk: StorageDisk,
  type: 'Ready' | 'Schedulable',
): Rejection<'DiskNotReady'> | undefined {
  const condition = conditionOf(disk.conditions, type);
  return condition?.status === 'True' ? undefined : notReady(disk.name, condition?.message ?? '');
}

function notReady(name: string, detail: string): Rejection<'DiskNotReady'> {
  return {
    rule: 'disk-ready',
    reason: 'DiskNotReady',
    message: `disk ${name} is not ready${detail === '' ? '' : `: ${detail}`}`,
    cure: `repair disk ${name}`,
  };
}
