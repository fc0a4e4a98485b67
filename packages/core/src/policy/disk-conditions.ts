import type { DiskReport } from '../model/agent-protocol.js';
import { formatBytes } from '../model/bytes.js';
import { type Condition, conditionOf, withCondition } from '../model/condition.js';
import type { DiskConditionType, StorageDisk } from '../model/node.js';
import type { ClusterSettings } from '../model/setting.js';
import { minimalAvailableBytes, provisionableBytes } from './disk-space.js';

const NOT_READY = 'DiskNotReady';

type DiskCondition = Omit<Condition<DiskConditionType>, 'lastTransitionAt'>;

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
    return unschedulable(NOT_READY, 'the disk is not ready');
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

/**
 * Does data go past the page cache? `undefined` of an agent that does not say, or of a disk that could not be asked: what
 * was known of it stays.
 */
function directIoCondition(directIo: boolean | undefined): DiskCondition | undefined {
  if (directIo === undefined) return undefined;
  if (directIo) return { type: 'DirectIo', status: 'True', reason: '', message: '' };
  return {
    type: 'DirectIo',
    status: 'False',
    reason: 'DirectIoRefused',
    message:
      'the file system refuses direct I/O: data goes through the page cache, which costs memory and one more copy of ' +
      'every write; what was flushed is as safe as with it',
  };
}

/**
 * Was the disk judged unfit for new replicas only because it was not ready? Such a verdict ends with the report that it is
 * ready: beside that it would say the opposite until the cluster's next reconciliation.
 */
function isRefuted(verdict: Condition<DiskConditionType>, isDiskReady: boolean): boolean {
  return isDiskReady && verdict.type === 'Schedulable' && verdict.reason === NOT_READY;
}

/** A disk's conditions after a report; the same array when it says nothing new. */
export function conditionsAfter(
  report: Pick<DiskReport, 'ready' | 'reason' | 'message' | 'directIo' | 'onRootFileSystem'>,
  before: StorageDisk['conditions'],
  now: Date,
): StorageDisk['conditions'] {
  const { ready, reason, message } = report;
  const reported: DiskCondition[] = [{ type: 'Ready', status: ready ? 'True' : 'False', reason, message }];
  const directIo = directIoCondition(report.directIo);
  if (directIo !== undefined) reported.push(directIo);
  if (report.onRootFileSystem === false)
    reported.push({ type: 'Mounted', status: 'True', reason: '', message: '' });
  const refuted = before.find((known) => isRefuted(known, ready));
  const standing = refuted === undefined ? before : before.filter((known) => known !== refuted);
  return reported.reduce((conditions, next) => {
    const known = conditionOf(conditions, next.type);
    const isKnown =
      known?.status === next.status && known.reason === next.reason && known.message === next.message;
    return isKnown ? conditions : withCondition(conditions, next, now);
  }, standing);
}
