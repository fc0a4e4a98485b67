/** Tasks of volumes that wait for admission or an engine, so that a test states only its subject. */
import { asId } from '@holdfast/core/model/ids.js';
import { type LayerChange, type LayerTask, newLayerTask } from '@holdfast/core/model/layer-task.js';
import { type FillTask, newFill } from '@holdfast/core/model/volume-task.js';
import { NOON, testId } from './builders.js';

type Purge = Extract<LayerTask, { kind: 'purge' }>;

export function aTask(change: LayerChange): LayerTask {
  return newLayerTask(change, { requestedAt: NOON });
}

export function aPurge(part: Partial<Purge> = {}): Purge {
  const progress = { startedEpoch: undefined, tries: 0, trouble: undefined };
  return { kind: 'purge', admittedAt: undefined, requestedAt: NOON, ...progress, ...part };
}

/** The filling of a clone of volume 8. */
export function aFill(part: Partial<FillTask> = {}): FillTask {
  const source = {
    sourceVolumeId: asId<FillTask['sourceVolumeId']>(testId(8)),
    snapshotId: asId<FillTask['snapshotId']>(testId(9)),
  };
  return {
    ...newFill({ ...source, startedEpoch: undefined, trouble: undefined, requestedAt: NOON }),
    ...part,
  };
}
