import type { NodeVolumes } from '@holdfast/control/ports/store.js';
import { type ClusterId, compareIds, type NodeId } from '@holdfast/core/model/ids.js';
import { isActiveRebuild, type RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import type { Tables } from './tables.js';

/** See `Store.loadNodeVolumes`. */
export function volumesOnNode(
  { volumes, replicas, rebuilds }: Tables,
  nodeId: NodeId,
): NodeVolumes['volumes'] {
  const held = replicas.by('node', nodeId).map(({ volumeId }) => volumeId);
  const ids = new Set([...volumes.by('holder', nodeId).map(({ id }) => id), ...held]);
  return [...ids].sort(compareIds).flatMap((id) => {
    const volume = volumes.get(id);
    if (volume === undefined) return [];
    return [
      {
        volume,
        replicas: replicas.by('volume', id).sort((a, b) => compareIds(a.id, b.id)),
        rebuilds: rebuilds.by('volume', id).filter(isActiveRebuild),
      },
    ];
  });
}

/** See `Store.loadRebuildSpeeds`. */
export function rebuildSpeeds({ rebuilds }: Tables, clusterId: ClusterId, limit: number): RebuildSpeed[] {
  return rebuilds
    .by('state', 'succeeded')
    .filter((rebuild) => rebuild.clusterId === clusterId)
    .sort((a, b) => b.queuedAt.getTime() - a.queuedAt.getTime())
    .flatMap(({ startedAt, finishedAt, bytes }) =>
      startedAt === undefined || finishedAt === undefined
        ? []
        : [{ bytes: bytes.sent, seconds: (finishedAt.getTime() - startedAt.getTime()) / 1000 }],
    )
    .slice(0, limit);
}
