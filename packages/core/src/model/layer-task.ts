import type { SnapshotId } from './ids.js';
import type { Trouble } from './snapshot.js';

/** Pending change of a volume's layers as a whole. One at a time, and none together with a rebuild. */
export type LayerChange =
  /** Takes out deleted layers, and those that rebuilds left behind. */
  | { kind: 'purge' }
  /** Makes the volume read as it did when the snapshot was taken. */
  | { kind: 'revert'; snapshotId: SnapshotId }
  /** Makes it larger. The replicas' bookings have been raised already; `fromBytes` is the earlier size. */
  | { kind: 'expand'; sizeBytes: number; fromBytes: number };

export type LayerTask = (Exclude<LayerChange, { kind: 'purge' }> | Purge) & TaskProgress;

/** A purge moves whole layers: it waits for admission (`volume-task.ts`). */
type Purge = { kind: 'purge'; admittedAt: Date | undefined };

type TaskProgress = {
  /** Told to the engine, so that a task whose answer was lost is not done twice; absent in rows of older versions. */
  id?: string | undefined;
  requestedAt: Date;
  /** The attachment whose engine got the request; another one does not know it. */
  startedEpoch: number | undefined;
  /** Refusals so far. */
  tries: number;
  trouble: Trouble | undefined;
};

/** A task requested just now. */
export function newLayerTask(
  change: LayerChange,
  asked: Pick<TaskProgress, 'id' | 'requestedAt'>,
): LayerTask {
  const progress = { ...asked, startedEpoch: undefined, tries: 0, trouble: undefined };
  return change.kind === 'purge'
    ? { ...change, admittedAt: undefined, ...progress }
    : { ...change, ...progress };
}

/** Last report of a volume's layers by its engine; the layers themselves are the snapshots. */
export type VolumeChain = {
  /** Which state of the engine it was read in (`chainKey`): in another one it is out of date. */
  key: string;
  headParentId: SnapshotId | undefined;
  /** Bytes written since the last snapshot. */
  headBytes: number;
  /** Present operation on the layers; empty for none. */
  busy: string;
  /** Layers that the last purge had to leave: they need not be tried again until something else is to go. */
  keptIds: readonly SnapshotId[];
  readAt: Date;
};
