/**
 * Admission of one volume's purge or filling (granted by `task-queue.ts`): requested while there is such work and an
 * engine to do it, and ended as soon as that engine is gone.
 */

import type { LayerTask } from '../model/layer-task.js';
import { isNodeReady } from '../model/node.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { nodeById } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';
import { heavyTaskOf, layerTaskOf, withoutAdmission } from '../model/volume-task.js';
import type { Step } from './step.js';

/** A change of all layers that is under way or comes next. A purge that still waits for admission holds nothing up. */
export function pressingTask(volume: Volume): LayerTask | undefined {
  const task = layerTaskOf(volume);
  const isWaiting =
    task?.kind === 'purge' && task.admittedAt === undefined && task.startedEpoch !== volume.epoch;
  return isWaiting ? undefined : task;
}

export function planTaskAdmissionEnd(view: VolumeView): Step | undefined {
  const { volume } = view;
  const task = heavyTaskOf(volume);
  if (task?.admittedAt === undefined || mayBeAdmitted(view)) return undefined;
  const patch = { task: withoutAdmission(task) };
  const change = { kind: 'volume.patch', volumeId: volume.id, patch } as const;
  return { kind: 'commit', why: 'its admission is over', changes: [change] };
}

/** Asks the cluster's reconciler to admit this purge or filling. The last concern, because it only wakes the cluster. */
export function planTaskAdmissionRequest(view: VolumeView): Step | undefined {
  const task = heavyTaskOf(view.volume);
  const isWaiting = task !== undefined && task.admittedAt === undefined;
  return isWaiting && mayBeAdmitted(view) ? { kind: 'request-admission' } : undefined;
}

/** `Store.loadTaskQueue` has the same condition: otherwise an admission would be ended as soon as it was granted. */
function mayBeAdmitted({ volume, fleet }: VolumeView): boolean {
  const holder = nodeById(fleet, holderOf(volume));
  return volume.lifecycle.state === 'attached' && holder !== undefined && isNodeReady(holder);
}
