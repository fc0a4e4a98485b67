import type { SnapshotId, VolumeId } from './ids.js';
import type { Trouble } from './snapshot.js';

/**
 * From where a new volume is filled. While it has one the volume counts as being created: the worker attaches it, lets
 * its engine copy, and detaches it; nobody else gets to use it.
 */
export type VolumeFill = {
  sourceVolumeId: VolumeId;
  snapshotId: SnapshotId;
  /** The attachment whose engine was asked; another one knows nothing of it. */
  startedEpoch: number | undefined;
  trouble: Trouble | undefined;
  requestedAt: Date;
};
