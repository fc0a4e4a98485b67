import { type Condition } from './condition.js';
import type { DiskAnswerTimes } from './disk-answers.js';
import type { DiskRivals, DiskStamp } from './disk-stamp.js';
import type { ClusterId, DiskId, NodeId, VolumeId } from './ids.js';
import type { Labels } from './labels.js';
import type { NodeDrain, NodeDrainStatus } from './node-drain.js';

/** Which data engine a volume uses: v1 keeps files on a file system, v2 keeps ranges on a block disk. */
export type DataEngine = 'v1' | 'v2';
export type DiskType = 'filesystem' | 'block';

/**
 * A storage node: one agent and the disks it owns.
 *
 * Spec is what users want (`allowScheduling` … `region`); the rest is what the agent reported last.
 */
export type StorageNode = {
  id: NodeId;
  clusterId: ClusterId;
  name: string;
  /** `undefined` when the node has no label; such nodes form one unnamed zone. */
  zone: string | undefined;
  region: string | undefined;
  tags: readonly string[];
  /** `undefined`: it has none. */
  labels?: Labels | undefined;
  allowScheduling: boolean;
  cordoned: boolean;
  evictionRequested: boolean;
  /** The open maintenance window; `undefined`: none. */
  maintenance: NodeMaintenance | undefined;
  /** The requested drain; `undefined`: none. */
  drain: NodeDrain | undefined;
  /** Its progress; `undefined` until the cluster's reconciler has run, and without a drain. */
  drainStatus: NodeDrainStatus | undefined;
  /** Set once a user has said that it is gone for good; its row goes when nothing refers to it. */
  forget?: NodeForget | undefined;
  /** Ready: the agent's heartbeat is fresh. Schedulable: not in maintenance or drained, nor cordoned where the setting minds that. */
  conditions: readonly Condition<'Ready' | 'Schedulable'>[];
  /** Where the worker reaches the agent; `undefined` until it has registered. */
  controlUrl: string | undefined;
  /** Host and port at which users and other agents reach this agent's NBD server. */
  nbdHost: string | undefined;
  nbdPort: number | undefined;
  /** New at each start of the agent process: shows a restart, after which no engine runs there. */
  bootId: string | undefined;
  lastHeartbeatAt: Date | undefined;
  /** When it last became ready after it had not been; `undefined`: it has always been. */
  returnedAt?: Date | undefined;
  version: number;
};

/**
 * Maintenance window of a node: it goes down for a while and returns with its copies, so that no new ones are built meanwhile
 * (docs/adr/0155-maintenance-window.md).
 */
export type NodeMaintenance = {
  /** Rules of time ask for it; the cluster's reconciler closes the window soon afterwards. */
  readonly until: Date;
  /** As the user who opened it gave it; empty: none given. */
  readonly reason: string;
};

/**
 * Request to forget a node that is gone for good (docs/adr/0339-forgetting-a-node.md). It is never taken back: the
 * node's certificate is revoked in the same commit.
 */
export type NodeForget = {
  readonly requestedAt: Date;
  /** Volumes whose data on this node only may be lost, as accepted by the user. */
  readonly acceptedLosses: readonly VolumeId[];
};

/**
 * True if all copies must leave the node, because a user requested that, or because it is gone for good. A drain is judged for each
 * copy.
 */
export function isNodeEmptied({ evictionRequested, forget }: StorageNode): boolean {
  return evictionRequested || forget !== undefined;
}

export function isNodeReady(node: {
  readonly conditions: readonly Pick<Condition, 'type' | 'status'>[];
}): boolean {
  return node.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** A node without a zone label belongs to the one unnamed zone. */
export type ZoneKey = string;

export function zoneKey(node: StorageNode): ZoneKey {
  return node.zone ?? '';
}

/** `Mounted`: its file system is not the root one, as last reported; without it that is not known, or it is. */
export type DiskConditionType = 'Ready' | 'Schedulable' | 'DirectIo' | 'Unique' | 'Mounted';

/** One folder (or device) of a node that holds replicas. */
export type StorageDisk = {
  id: DiskId;
  nodeId: NodeId;
  name: string;
  path: string;
  type: DiskType;
  /** `ext4`, `xfs`, …; empty when unknown. */
  fileSystem: string;
  tags: readonly string[];
  /** `undefined`: it has none. */
  labels?: Labels | undefined;
  allowScheduling: boolean;
  evictionRequested: boolean;
  storageReservedBytes: number;
  storageMaximumBytes: number;
  storageAvailableBytes: number;
  /** Nominal sizes of all replicas booked here, summed in the same transaction as the booking. */
  storageScheduledBytes: number;
  /** Written bytes of those replicas, so that written data counts once (docs/design/scheduling.md). */
  writtenBytes: number;
  /**
   * DirectIo is absent until an agent has reported whether the file system supports it. Unique exists while it is false: another node
   * has a disk of this identity.
   */
  conditions: readonly Condition<DiskConditionType>[];
  /** Since when it is so full that auto-balance takes copies off it. */
  pressedAt?: Date | undefined;
  /** When a user added it through the API; `undefined`: its agent was configured with it. */
  addedAt?: Date | undefined;
  /** Size in bytes that the user gave it then; `undefined`: what its agent gives a new disk. */
  configuredBytes?: number | undefined;
  /** When a user requested its removal. Its agent releases it, and then the row is deleted. */
  removalRequestedAt?: Date | undefined;
  /** The newest state that its holder has stored on it; `undefined`: none, or its agent says nothing of it. */
  stamp?: DiskStamp | undefined;
  /** The node whose next report is taken for the disk whatever its stamp, because a user has said so. */
  acceptedNodeId?: NodeId | undefined;
  /** Other nodes that have reported a disk of this identity. */
  rivals?: DiskRivals | undefined;
  /** How it has answered, as of the report that was stored at that time; `undefined`: its agent does not say. */
  answers?: (DiskAnswerTimes & { readonly at: Date }) | undefined;
  /** The disk whose identity this one shares; `undefined`: it is the only one, or the one in use. */
  duplicateOf?: DiskId | undefined;
  version: number;
};
