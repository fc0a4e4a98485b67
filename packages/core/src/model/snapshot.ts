import type { SnapshotId, VolumeId } from './ids.js';

/** A frozen layer. The head is the one layer that takes writes; it is not a snapshot. */
export type Snapshot = {
  id: SnapshotId;
  volumeId: VolumeId;
  /** Unique within its volume; also the layer's name on every copy. */
  name: string;
  /** `system` snapshots are made by rebuilds and may be cleaned up; `user` ones never are by themselves. */
  origin: 'user' | 'system';
  parentId: SnapshotId | undefined;
  createdAt: Date;
};
