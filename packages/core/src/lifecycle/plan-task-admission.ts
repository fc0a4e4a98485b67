/**
 * Admission of one volume's purge or filling (granted by `task-line.ts`): requested while there is such work and an
 * engine to do it, and ended as soon as there is not.
 */

import { isNodeReady } from '../model/node.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { nodeById } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';
import type { Step } from './step.js';

/** Does the volume's task, or its filling, move whole layers? Reverts and expansions do not. */
export function movesLayers({ layerTask, fill }: Pick<Volume, 'layerTask' | 'fill'>): boolean {
  return fill !== undefined || layerTask?.kind === 'purge';
}

/** A change of all layers that is under way or comes next. A purge that still waits for admission holds nothing up. */
export function pressingTask({ layerTask, taskAdmittedAt, epoch }: Volume): Volume['layerTask'] {
  const isWaiting =
    layerTask?.kind === 'purge' && taskAdmittedAt === undefined && layerTask.startedEpoch !== epoch;
  return isWaiting ? undefined : layerTask;
}

export function planTaskAdmissionEnd(view: VolumeView): Step | undefined {
  const { volume } = view;
  if (volume.taskAdmittedAt === undefined || mayBeAdmitted(view)) return undefined;
  const change = { kind: 'volume.patch', volumeId: volume.id, patch: { taskAdmittedAt: undefined } } as const;
  return { kind: 'commit', why: 'its admission is over', changes: [change] };
}

/** Asks the cluster's reconciler to admit this purge or filling. The last concern, because it only wakes the cluster. */
export function planTaskAdmissionRequest(view: VolumeView): Step | undefined {
  return view.volume.taskAdmittedAt === undefined && mayBeAdmitted(view)
    ? { kind: 'request-admission' }
    : undefined;
}

/** `Store.loadTaskQueue` has the same condition: otherwise an admission would be ended as soon as it was granted. */
function mayBeAdmitted({ volume, fleet }: VolumeView): boolean {
  const holder = nodeById(fleet, holderOf(volume));
  return (
    volume.lifecycle.state === 'attached' &&
    holder !== undefined &&
    isNodeReady(holder) &&
    movesLayers(volume)
  );
}
