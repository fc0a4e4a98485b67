/** Disks that users add to a node or take off it: what its agent is told, and what a report of the agent settles of it. */
import type { DiskReport, HeartbeatReply } from '../model/agent-protocol.js';
import { conditionOf, withCondition } from '../model/condition.js';
import type { DiskId, NodeId } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import type { DiskAddition } from './decide-disk-change.js';

export type DiskWishes = NonNullable<HeartbeatReply['disks']>;

/** The row of a disk that its agent has yet to set up. It takes no replica before the agent reports it ready. */
export function pendingDisk(
  { path, name, type, sizeBytes }: DiskAddition & { name: string },
  spec: Pick<StorageDisk, 'tags' | 'allowScheduling' | 'storageReservedBytes' | 'labels'>,
  { diskId, nodeId, now }: { diskId: DiskId; nodeId: NodeId; now: Date },
): StorageDisk {
  const pending = {
    type: 'Ready' as const,
    status: 'False' as const,
    reason: 'DiskPending',
    message: 'its agent has not set it up yet',
  };
  return {
    id: diskId,
    nodeId,
    name,
    path,
    type,
    fileSystem: '',
    ...spec,
    evictionRequested: false,
    storageMaximumBytes: sizeBytes ?? 0,
    storageAvailableBytes: 0,
    storageScheduledBytes: 0,
    writtenBytes: 0,
    conditions: withCondition([], pending, now),
    addedAt: now,
    configuredBytes: sizeBytes,
    version: 1,
  };
}

/** What an agent is told of its disks, by id; `undefined`: nothing. */
export function wishesOf(disks: readonly StorageDisk[]): DiskWishes | undefined {
  const sorted = [...disks].sort((a, b) => (a.id < b.id ? -1 : 1));
  const remove = sorted.filter(({ removalRequestedAt }) => removalRequestedAt !== undefined);
  const add = sorted.filter((disk) => disk.addedAt !== undefined && disk.removalRequestedAt === undefined);
  if (remove.length + add.length === 0) return undefined;
  return {
    add: add.map(({ id, name, path, type, configuredBytes, conditions }) => {
      const isSetUp = conditionOf(conditions, 'Ready')?.reason !== 'DiskPending';
      return {
        diskId: id,
        name,
        path,
        type,
        sizeBytes: configuredBytes ?? null,
        ...(isSetUp && { isSetUp }),
      };
    }),
    remove: remove.map(({ id }) => id),
  };
}

export type SettledDisk =
  /** Its agent has let go of it. */
  | { readonly disk: StorageDisk; readonly as: 'removed' }
  /** The second disk of one identity that it told of is not there any more. */
  | { readonly disk: StorageDisk; readonly as: 'single' }
  /** At its path its agent has found the disk `found`, which stands for it from now on. */
  | { readonly disk: StorageDisk; readonly as: 'found'; readonly found: DiskId };

/**
 * Rows of a node that end with this report of its agent.
 *
 * @param disks all of the node's, as they were before the report
 */
export function settledBy(
  reports: readonly Pick<DiskReport, 'diskId' | 'addedAs'>[],
  disks: readonly StorageDisk[],
): SettledDisk[] {
  return disks.flatMap((disk): SettledDisk[] => {
    if (reports.some(({ diskId }) => diskId === disk.id)) return [];
    if (disk.removalRequestedAt !== undefined) return [{ disk, as: 'removed' }];
    if (disk.duplicateOf !== undefined) return [{ disk, as: 'single' }];
    const found = reports.find(({ addedAs }) => addedAs === disk.id)?.diskId;
    return found === undefined || disk.addedAt === undefined ? [] : [{ disk, as: 'found', found }];
  });
}
