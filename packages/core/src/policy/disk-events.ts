/** Events about a disk: what its agent reports of it, what users change, and whether it takes new replicas. */
import { conditionOf } from '../model/condition.js';
import type { ClusterEvent } from '../model/event.js';
import type { ClusterId } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import { changedFields } from './changed-fields.js';

export type DiskNews = Pick<ClusterEvent, 'type' | 'message'>;

export function diskEvent(
  clusterId: ClusterId,
  { id }: Pick<StorageDisk, 'id'>,
  news: DiskNews,
  at: Date,
): ClusterEvent {
  return { clusterId, ...news, subject: { kind: 'disk', id }, volumeId: undefined, at };
}

const CHANGED_FIELDS = ['allowScheduling', 'tags', 'labels', 'storageReservedBytes'] as const;

type DiskSpec = Pick<StorageDisk, (typeof CHANGED_FIELDS)[number] | 'evictionRequested'>;

/** Of a change of what is wanted of a disk. */
export function diskChangeNews(name: string, before: DiskSpec, after: DiskSpec): DiskNews[] {
  const changed = changedFields(before, after, CHANGED_FIELDS);
  const news: DiskNews[] =
    changed === undefined ? [] : [{ type: 'DiskChanged', message: `disk ${name}: ${changed}` }];
  if (before.evictionRequested === after.evictionRequested) return news;
  const eviction: DiskNews = after.evictionRequested
    ? { type: 'DiskEvictionRequested', message: `every replica of disk ${name} is to move away` }
    : { type: 'DiskEvictionCancelled', message: `replicas of disk ${name} stay where they are` };
  return [...news, eviction];
}

export function diskAddedNews(disk: Pick<StorageDisk, 'name' | 'path'>, node: string): DiskNews {
  return { type: 'DiskAdded', message: `disk ${disk.name} (${disk.path}) is added to node ${node}` };
}

export function diskRemovedNews(disk: Pick<StorageDisk, 'name' | 'path'>, node: string): DiskNews {
  return { type: 'DiskRemoved', message: `disk ${disk.name} (${disk.path}) is off node ${node}` };
}

export function diskAcceptedNews(disk: string, node: string, path: string): DiskNews {
  return {
    type: 'DiskAccepted',
    message: `a user takes what is at ${path} of node ${node} for disk ${disk}, whatever its stamp`,
  };
}

type Conditions = StorageDisk['conditions'];

/** Of a report. A disk that is reported for the first time is no news unless it can't be used. */
export function diskReadyNews(name: string, before: Conditions, after: Conditions): DiskNews | undefined {
  const [was, is] = [conditionOf(before, 'Ready'), conditionOf(after, 'Ready')];
  if (is === undefined || is.status === (was?.status ?? 'True')) return undefined;
  return is.status === 'True'
    ? { type: 'DiskReady', message: `disk ${name} can be used again` }
    : { type: 'DiskNotReady', message: `disk ${name} can not be used: ${is.message}` };
}

/** What else makes a disk take no replica, its own failure or its node's, has an event of its own. */
const PRESSURE = 'DiskPressure';

/** Of a change between taking new replicas and being too full for them. */
export function diskPressureNews(name: string, before: Conditions, after: Conditions): DiskNews | undefined {
  const [was, is] = [conditionOf(before, 'Schedulable'), conditionOf(after, 'Schedulable')];
  const [wasFull, isFull] = [was?.reason === PRESSURE, is?.reason === PRESSURE];
  if (is === undefined || wasFull === isFull) return undefined;
  if (isFull) {
    return { type: 'DiskUnschedulable', message: `disk ${name} takes no new replica: ${is.message}` };
  }
  return is.status === 'True'
    ? { type: 'DiskSchedulable', message: `disk ${name} takes new replicas again` }
    : undefined;
}
