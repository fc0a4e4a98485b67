import type { DiskReport } from '../model/agent-protocol.js';
import { conditionOf } from '../model/condition.js';
import type { StorageDisk, StorageNode } from '../model/node.js';
import type { Replica } from '../model/replica.js';
import type { DiskNews } from './disk-events.js';

type MoveFacts = {
  readonly disk: Pick<StorageDisk, 'conditions'>;
  /** The node that it is known on. */
  readonly from: Pick<StorageNode, 'conditions'>;
  readonly replicas: readonly Pick<Replica, 'mode'>[];
  /** The reporting node has shown that it has the copies on the disk: an id of a disk is known to every user of the cluster. */
  readonly isProven: boolean;
};

/**
 * Has a disk moved to the node that reports it now? Only one that can be read there, and is gone where it was: its node is known
 * not to answer, or known not to have it. No engine may use a copy on it, since that engine still reaches the old place.
 */
export function hasMoved(
  { disk, from, replicas, isProven }: MoveFacts,
  { ready }: Pick<DiskReport, 'ready'>,
): boolean {
  const isGone = isKnownNotReady(from.conditions) || isKnownNotReady(disk.conditions);
  return ready && isProven && isGone && replicas.every(({ mode }) => mode !== 'RW' && mode !== 'WO');
}

function isKnownNotReady(conditions: Parameters<typeof conditionOf>[0]): boolean {
  return conditionOf(conditions, 'Ready')?.status === 'False';
}

export function diskMovedNews(disk: string, from: string, to: string): DiskNews {
  return {
    type: 'DiskMoved',
    message: `disk ${disk} is on node ${to} now, it was on ${from}; its replicas are there too`,
  };
}
