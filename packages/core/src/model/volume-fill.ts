import type { SnapshotId, VolumeId } from './ids.js';
import type { Trouble } from './snapshot.js';

/**
 * Source of a clone: the snapshot that a new volume is filled from. Until it is filled the volume counts as being
 * created: the worker attaches it, lets its engine copy, and detaches it; users can't attach it.
 */
export type VolumeFill = {
  sourceVolumeId: VolumeId;
  snapshotId: SnapshotId;
  /** The attachment whose engine got the request; another one does not know it. */
  startedEpoch: number | undefined;
  trouble: Trouble | undefined;
  requestedAt: Date;
};
