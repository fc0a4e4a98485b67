/** Conditions as a controller of Longhorn recorded them, where our own rules ask for the facts behind them. */
import { conditionOf } from '../../model/condition.js';
import { diskReadyFilter, diskReadyRejection } from '../filters/disk-ready.filter.js';
import { cordoned, nodeSchedulableFilter } from '../filters/node-schedulable.filter.js';
import type { DiskFilter, NodeFilter } from '../framework/framework.js';

export const recordedSchedulableFilter: NodeFilter = {
  ...nodeSchedulableFilter,

  prepare: () => (node) =>
    conditionOf(node.conditions, 'Schedulable')?.status === 'True' ? undefined : cordoned(node.name),
};

/**
 * Schedulable also holds the space check of an empty replica; a failed replica that is reused needs only a readable
 * disk, because its space is booked.
 */
export const recordedDiskFilter: DiskFilter = {
  ...diskReadyFilter,

  prepare({ request }) {
    const type = request.reuseDiskId === undefined ? 'Schedulable' : 'Ready';
    return (disk) => diskReadyRejection(disk, type);
  },
};
