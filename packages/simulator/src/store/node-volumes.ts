import type { NodeVolumes } from '@holdfast/control/ports/store.js';
import { type ClusterId, compareIds, type NodeId } from '@holdfast/core/model/ids.js';
import { isActiveRebuild, type RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import type { Tables } from './tables.js';

/** See `Store.loadNodeVolumes`. */
export function volumesOnNode(
  { volumes, replicas, rebuilds }: Tables,
  nodeId: NodeId,
): NodeVolumes['volumes'] {
  const active = [...rebuilds.values()].filter(isActiveRebuild);
  return [...volumes.values()]
    .map((volume) => ({
      volume,
      replicas: replicas.ofVolume(volume.id).sort((a, b) => compareIds(a.id, b.id)),
      rebuilds: active.filter(({ volumeId }) => volumeId === volume.id),
    }))
    .filter(
      ({ volume, replicas: own }) =>
        holderOf(volume) === nodeId || own.some((replica) => replica.nodeId === nodeId),
    )
    .sort((a, b) => compareIds(a.volume.id, b.volume.id));
}

/** See `Store.loadRebuildSpeeds`. */
export function rebuildSpeeds({ rebuilds }: Tables, clusterId: ClusterId, limit: number): RebuildSpeed[] {
  return [...rebuilds.values()]
    .filter((rebuild) => rebuild.clusterId === clusterId && rebuild.state === 'succeeded')
    .sort((a, b) => b.queuedAt.getTime() - a.queuedAt.getTime())
    .flatMap(({ startedAt, finishedAt, bytes }) =>
      startedAt === undefined || finishedAt === undefined
        ? []
        : [{ bytes: bytes.sent, seconds: (finishedAt.getTime() - startedAt.getTime()) / 1000 }],
    )
    .slice(0, limit);
}
