import type { NodeVolumes } from '@holdfast/control/ports/store.js';
import { type ClusterId, compareIds, type NodeId } from '@holdfast/core/model/ids.js';
import { isActiveRebuild, type RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import type { AffectedPlaces } from '@holdfast/core/model/views.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import type { Tables } from './tables.js';

/** See `Store.loadNodeVolumes`. */
export function volumesOnNode(tables: Tables, nodeId: NodeId): NodeVolumes['volumes'] {
  return withCopies(tables).filter(
    ({ volume, replicas: own }) =>
      holderOf(volume) === nodeId || own.some((replica) => replica.nodeId === nodeId),
  );
}

/** See `Store.loadAffectedVolumes`. */
export function affectedVolumes(
  tables: Tables,
  clusterId: ClusterId,
  { nodeIds, diskIds }: AffectedPlaces,
): NodeVolumes['volumes'] {
  return withCopies(tables).filter(({ volume, replicas, rebuilds }) => {
    const holderId = holderOf(volume);
    const isThere =
      (holderId !== undefined && nodeIds.includes(holderId)) ||
      replicas.some(({ diskId }) => diskId !== undefined && diskIds.includes(diskId));
    const isLacking = volume.robustness === 'degraded' || volume.robustness === 'faulted';
    return volume.clusterId === clusterId && (isThere || isLacking || rebuilds.length > 0);
  });
}

function withCopies({ volumes, replicas, rebuilds }: Tables): NodeVolumes['volumes'][number][] {
  const active = [...rebuilds.values()].filter(isActiveRebuild);
  return [...volumes.values()]
    .map((volume) => ({
      volume,
      replicas: replicas.ofVolume(volume.id).sort((a, b) => compareIds(a.id, b.id)),
      rebuilds: active.filter(({ volumeId }) => volumeId === volume.id),
    }))
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
