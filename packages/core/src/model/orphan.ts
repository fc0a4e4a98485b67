import type { CopyRecord } from './copy-record.js';
import type { ClusterId, DiskId, NodeId, OrphanId, ReplicaId, VolumeId } from './ids.js';
import type { Trouble } from './snapshot.js';

/**
 * A copy on a disk that no replica row stands for: its row went while its node was away, or it belongs to a database
 * that is not this one.
 */
export type Orphan = {
  id: OrphanId;
  clusterId: ClusterId;
  nodeId: NodeId;
  diskId: DiskId;
  /** What the copy calls itself. */
  replicaId: ReplicaId;
  /** The volume it says that it is of, which may be gone. */
  volumeId: VolumeId;
  /** Space its data takes on the disk. */
  writtenBytes: number;
  /** As it was last reported; a copy with another one has been used since. */
  record: CopyRecord | undefined;
  firstSeenAt: Date;
  /** From then on users see it. A report that was under way while a copy was removed makes an orphan for a moment. */
  announcedAt: Date | undefined;
  removal: OrphanRemoval | undefined;
  version: number;
};

export type OrphanRemoval = {
  by: 'person' | 'setting';
  requestedAt: Date;
  /** From then on the agent may be removing it: no replica can get its id. */
  claimedAt: Date | undefined;
  trouble: Trouble | undefined;
};
