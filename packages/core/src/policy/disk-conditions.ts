import { formatBytes } from '../model/bytes.js';
import { type Condition, conditionOf } from '../model/condition.js';
import type { StorageDisk } from '../model/node.js';
import { minimalAvailableBytes, provisionableBytes } from '../scheduling/space.js';
import type { ClusterSettings } from '../settings/definitions.js';

type DiskCondition = Omit<Condition<'Ready' | 'Schedulable'>, 'lastTransitionAt'>;

/**
 * Would the disk take a replica of no size? The space formulas with nothing asked of them; Longhorn's reasons, so that
 * its users know them. `DiskPressure` covers a full disk and one that is booked past its limit.
 */
export function diskSchedulableCondition(
  disk: StorageDisk,
  isNodeReady: boolean,
  settings: ClusterSettings,
): DiskCondition {
  if (!isNodeReady) return unschedulable('NodeNotReady', 'the node does not answer');
  if (conditionOf(disk.conditions, 'Ready')?.status !== 'True') {
    return unschedulable('DiskNotReady', 'the disk is not ready');
  }
  const minimum = minimalAvailableBytes(disk, settings);
  const hasSpace = disk.storageMaximumBytes > 0 && disk.storageAvailableBytes > 0;
  if (!hasSpace || disk.storageAvailableBytes <= minimum) {
    return unschedulable('DiskPressure', `not more than ${formatBytes(minimum)} of the disk is free`);
  }
  const limit = provisionableBytes(disk, settings);
  if (disk.storageScheduledBytes > limit) {
    return unschedulable('DiskPressure', `more than ${formatBytes(Math.max(0, limit))} is booked`);
  }
  return { type: 'Schedulable', status: 'True', reason: '', message: '' };
}

function unschedulable(reason: string, message: string): DiskCondition {
  return { type: 'Schedulable', status: 'False', reason, message };
}
