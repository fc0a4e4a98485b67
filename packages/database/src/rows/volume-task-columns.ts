/** Columns of a volume's task: written and read as one value. The stored JSON keeps its earlier form. */
import type { LayerTask } from '@holdfast/core/model/layer-task.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import type { VolumeFill } from '@holdfast/core/model/volume-fill.js';
import {
  fillOf,
  heavyTaskOf,
  layerTaskOf,
  newFill,
  type VolumeTask,
} from '@holdfast/core/model/volume-task.js';
import { asJson, type Column, columnsOf } from '../sql/table.js';
import { orUndefined, type Stored } from './json.js';
import { readTrouble } from './snapshot-row.js';

const column = columnsOf<Volume>();

/** A column that holds one part of the task, which is always replaced as a whole. */
function taskColumn(name: string, part: (volume: Pick<Volume, 'task'>) => unknown): Column<Volume> {
  return column('task', name, (task) => part({ task }) ?? null);
}

export const TASK_COLUMNS: readonly Column<Volume>[] = [
  taskColumn('fill', (volume) => asJson(storedFill(volume))),
  taskColumn('layer_task', (volume) => asJson(storedLayerTask(volume))),
  taskColumn('turn_at', (volume) => heavyTaskOf(volume)?.admittedAt),
];

export type TaskRow = {
  fill: Stored<VolumeFill> | null;
  layer_task: Stored<LayerTask> | null;
  turn_at: Date | null;
};

function storedFill(volume: Pick<Volume, 'task'>): VolumeFill | undefined {
  const fill = fillOf(volume);
  if (fill === undefined) return undefined;
  const { kind, admittedAt, ...stored } = fill;
  return stored;
}

function storedLayerTask(volume: Pick<Volume, 'task'>): object | undefined {
  const task = layerTaskOf(volume);
  if (task?.kind !== 'purge') return task;
  const { admittedAt, ...stored } = task;
  return stored;
}

/**
 * Rows of older versions may have an admission without its task, which is ignored, and a purge beside a filling: the plan requests
 * that purge again when the volume is filled.
 */
export function readTask({ fill, layer_task, turn_at }: TaskRow): VolumeTask | undefined {
  const admittedAt = orUndefined(turn_at);
  if (fill !== null) return { ...newFill(readFill(fill)), admittedAt };
  if (layer_task === null) return undefined;
  const task = readLayerTask(layer_task);
  return task.kind === 'purge' ? { ...task, admittedAt } : task;
}

function readLayerTask(stored: Stored<LayerTask>): LayerTask {
  const { requestedAt, startedEpoch, trouble, ...rest } = stored;
  // The kind and what belongs to it are stored together; JSON keeps ids as they are, but not their brands.
  const task = rest as unknown as LayerTask;
  return { ...task, requestedAt: new Date(requestedAt), startedEpoch, trouble: readTrouble(trouble) };
}

function readFill({ requestedAt, startedEpoch, trouble, ...ids }: Stored<VolumeFill>): VolumeFill {
  // As above: the brands of the ids.
  return {
    ...(ids as Pick<VolumeFill, 'sourceVolumeId' | 'snapshotId'>),
    startedEpoch,
    trouble: readTrouble(trouble),
    requestedAt: new Date(requestedAt),
  };
}
