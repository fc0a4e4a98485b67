/** Nodes and disks that are yet to be bought, for cures and what-ifs: empty, ready, open to replicas. */
import type { ClusterId, DiskId, NodeId } from '../../model/ids.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';

/** A node as it is once its agent has said its first word. */
export function emptyNode(facts: {
  id: NodeId;
  clusterId: ClusterId;
  name: string;
  zone: string | undefined;
  tags: readonly string[];
  now: Date;
}): StorageNode {
  const { now, ...named } = facts;
  return {
    ...named,
    region: undefined,
    allowScheduling: true,
    cordoned: false,
    evictionRequested: false,
    maintenance: undefined,
    drain: undefined,
    drainStatus: undefined,
    conditions: [isReadySince(now)],
    controlUrl: 'new',
    nbdHost: undefined,
    nbdPort: undefined,
    bootId: undefined,
    lastHeartbeatAt: now,
    version: 1,
  };
}

/** A disk with nothing on it, of a file system that takes files of any size. */
export function emptyDisk(facts: {
  id: DiskId;
  nodeId: NodeId;
  name: string;
  type: StorageDisk['type'];
  tags: readonly string[];
  bytes: number;
  reservedBytes: number;
  now: Date;
}): StorageDisk {
  const { bytes, reservedBytes, now, ...named } = facts;
  return {
    ...named,
    path: '',
    fileSystem: named.type === 'filesystem' ? 'xfs' : '',
    allowScheduling: true,
    evictionRequested: false,
    storageReservedBytes: reservedBytes,
    storageMaximumBytes: bytes,
    storageAvailableBytes: bytes,
    storageScheduledBytes: 0,
    writtenBytes: 0,
    conditions: [isReadySince(now)],
    version: 1,
  };
}

export function isReadySince(now: Date) {
  return { type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: now } as const;
}
