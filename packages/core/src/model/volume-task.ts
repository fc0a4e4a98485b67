/**
 * Task of a volume: the one pending change of its data as a whole. A filling (a clone's) or a change of all layers; never two at
 * once.
 *
 * Tasks that read or move whole layers wait for admission, because a setting limits how many volumes of a node may do so at once. The
 * admission is part of the task, so that it ends with it.
 */
import type { LayerTask } from './layer-task.js';
import type { VolumeFill } from './volume-fill.js';

/** When it was admitted; `undefined` while it waits for that. */
export type Admission = { readonly admittedAt: Date | undefined };

export type FillTask = VolumeFill & Admission & { kind: 'fill' };
export type VolumeTask = FillTask | LayerTask;
/** A task that moves whole layers. Reverts and expansions do not. */
export type HeavyTask = Extract<VolumeTask, Admission>;

type WithTask = { readonly task: VolumeTask | undefined };

/** The filling of a new clone from its source. */
export function newFill(fill: VolumeFill): FillTask {
  return { kind: 'fill', ...fill, admittedAt: undefined };
}

/** Set until the volume holds its clone source. */
export function fillOf({ task }: WithTask): FillTask | undefined {
  return task?.kind === 'fill' ? task : undefined;
}

/** The change of all layers that is wanted, and not done yet. */
export function layerTaskOf({ task }: WithTask): LayerTask | undefined {
  return task?.kind === 'fill' ? undefined : task;
}

export function heavyTaskOf({ task }: WithTask): HeavyTask | undefined {
  return task?.kind === 'fill' || task?.kind === 'purge' ? task : undefined;
}

/** Its next try is behind all volumes that wait for admission now. */
export function withoutAdmission<Task extends VolumeTask>(task: Task): Task;
export function withoutAdmission(task: VolumeTask): VolumeTask {
  return 'admittedAt' in task ? { ...task, admittedAt: undefined } : task;
}
