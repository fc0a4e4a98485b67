/** Ids of operations that requests have started, from their rows. */
import type { StorageNode } from '@holdfast/core/model/node.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { salvageOf } from '@holdfast/core/model/volume-lifecycle.js';
import { layerTaskOf } from '@holdfast/core/model/volume-task.js';
import { operationId } from '@holdfast/core/policy/operation.js';
import type { VolumeWithReplicas } from '@holdfast/database/queries/volumes.js';

type Begun = string | undefined;

export function layerOperation({ volume }: VolumeWithReplicas): Begun {
  const task = layerTaskOf(volume);
  return task === undefined ? undefined : operationId(task.kind, volume.id, task.requestedAt);
}

export function salvageOperation({ volume }: VolumeWithReplicas): Begun {
  const salvage = salvageOf(volume);
  return salvage === undefined ? undefined : operationId('salvage', volume.id, salvage.requestedAt);
}

export function deletionOperation({ id, lifecycle }: Pick<Volume, 'id' | 'lifecycle'>): Begun {
  return lifecycle.state === 'deleting' ? operationId('delete', id, lifecycle.requestedAt) : undefined;
}

/** The move is recorded on the copy that is built. */
export function moveOperation({ replicas }: VolumeWithReplicas): Begun {
  const moving = replicas.find(({ replica: { relocation } }) => relocation !== undefined)?.replica;
  return moving?.relocation === undefined ? undefined : operationId('move', moving.id, moving.relocation.at);
}

export function drainOperation({ id, drain }: StorageNode): Begun {
  return drain === undefined ? undefined : operationId('drain', id, drain.requestedAt);
}
