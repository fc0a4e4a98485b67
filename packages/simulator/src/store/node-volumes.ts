import type { NodeVolumes } from '@holdfast/control/ports/store.js';
import { type ClusterId, compareIds, type NodeId } from '@holdfast/core/model/ids.js';
import { isActiveRebuild, type RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import type { AffectedPlaces } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import type { Tables } from './tables.js';

/** See `Store.loadNodeVolumes`. */
export function volumesOnNode(tables: Tables, nodeId: NodeId): NodeVolumes['volumes'] {
  const { volumes, replicas } = tables;
  const held = replicas.by('node', nodeId).map(({ volumeId }) => volumeId);
  const ids = new Set([...volumes.by('holder', nodeId).map(({ id }) => id), ...held]);
  return withCopies(
    tables,
    [...ids].flatMap((id) => volumes.get(id) ?? []),
  );
}

/** See `Store.loadAffectedVolumes`. */
export function affectedVolumes(
  tables: Tables,
  clusterId: ClusterId,
  { nodeIds, diskIds }: AffectedPlaces,
): NodeVolumes['volumes'] {
  const { volumes, replicas, rebuilds } = tables;
  return withCopies(
    tables,
    [...volumes.values()].filter((volume) => {
      const holderId = holderOf(volume);
      const copies = replicas.by('volume', volume.id);
      const isThere =
        (holderId !== undefined && nodeIds.includes(holderId)) ||
        copies.some(({ diskId }) => diskId !== undefined && diskIds.includes(diskId));
      const isLacking = volume.robustness === 'degraded' || volume.robustness === 'faulted';
      const isRebuilt = rebuilds.by('volume', volume.id).some(isActiveRebuild);
      return volume.clusterId === clusterId && (isThere || isLacking || isRebuilt);
    }),
  );
}

function withCopies(
  { replicas, rebuilds }: Tables,
  volumes: readonly Volume[],
): NodeVolumes['volumes'][number][] {
  return [...volumes]
    .sort((a, b) => compareIds(a.id, b.id))
    .map((volume) => ({
      volume,
      replicas: replicas.by('volume', volume.id).toSorted((a, b) => compareIds(a.id, b.id)),
      rebuilds: rebuilds.by('volume', volume.id).filter(isActiveRebuild),
    }));
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
