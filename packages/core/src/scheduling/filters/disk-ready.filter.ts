import { conditionOf } from '../../model/condition.js';
import type { DiskFilter, Rejection } from '../framework.js';

/**
 * Rejects a disk that its agent says is not usable.
 *
 * Where conditions are recorded, Schedulable decides, which also holds the space check of an empty replica; a failed
 * replica that is reused needs only a readable disk, because its space is booked.
 */
export const diskReadyFilter: DiskFilter = {
  name: 'disk-ready',

  prepare({ request, profile }) {
    const type =
      profile.conditions === 'recorded' && request.reuseDiskId === undefined ? 'Schedulable' : 'Ready';
    return (disk) => {
      const condition = conditionOf(disk.conditions, type);
      return condition?.status === 'True' ? undefined : notReady(disk.name, condition?.message ?? '');
    };
  },
};

function notReady(name: string, detail: string): Rejection {
  return {
    rule: 'disk-ready',
    reason: 'DiskNotReady',
    message: `disk ${name} is not ready${detail === '' ? '' : `: ${detail}`}`,
    cure: `repair disk ${name}`,
  };
}
