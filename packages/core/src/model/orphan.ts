import type { CopyDescription } from './copy-description.js';
import type { CopyRecord } from './copy-record.js';
import type { ClusterId, DiskId, NodeId, OrphanId, ReplicaId, VolumeId } from './ids.js';
import type { Trouble } from './snapshot.js';
import type { Robustness } from './volume.js';

/** A copy on a disk without a replica row: its row was deleted while its node was down, or it belongs to another database. */
export type Orphan = {
  id: OrphanId;
  clusterId: ClusterId;
  nodeId: NodeId;
  diskId: DiskId;
  /** Ids that the copy gives itself. */
  replicaId: ReplicaId;
  /** The volume it says that it is of, which may be gone. */
  volumeId: VolumeId;
  /** Space its data takes on the disk. */
  writtenBytes: number;
  /** As it was last reported; a copy with another one has been used since. */
  record: CopyRecord | undefined;
  /**
   * The copy's description, as its agent returned it at the announcement. `undefined`: not requested yet, the copy has been used
   * since, or its agent's version does not support the request.
   */
  description?: CopyDescription | undefined;
  firstSeenAt: Date;
  /** From then on users see it. A report that was under way while a copy was removed makes an orphan for a moment. */
  announcedAt: Date | undefined;
  removal: OrphanRemoval | undefined;
  version: number;
};

export type OrphanInContext = {
  readonly orphan: Orphan;
  readonly nodeName: string;
  readonly diskName: string;
  /** Its node and its disk are both Ready: the disk that it was seen on is in its place. */
  readonly isReachable: boolean;
  /** The volume it says that it is of, where that still exists. */
  readonly volume: { readonly name: string; readonly robustness: Robustness } | undefined;
  /** When that volume was deleted, as far back as the cluster's events go. Filled for recoveries. */
  readonly deletedAt?: Date | undefined;
};

export type OrphanRemoval = {
  by: 'person' | 'setting';
  requestedAt: Date;
  /** From then on the agent may be removing it: no replica can get its id. */
  claimedAt: Date | undefined;
  trouble: Trouble | undefined;
};
