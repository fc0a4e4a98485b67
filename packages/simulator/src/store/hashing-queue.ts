import type { HashingQueueView } from '@holdfast/control/ports/store.js';
import { lastCronTime } from '@holdfast/core/model/cron.js';
import { type ClusterId, compareIds, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { effectiveValue } from '@holdfast/core/policy/volume-settings.js';
import type { ClusterSettings } from '@holdfast/core/settings/definitions.js';
import type { Tables } from './tables.js';

type Candidate = HashingQueueView['candidates'][number];

/** See `Store.loadHashingQueue`. */
export function hashingQueue(
  tables: Tables,
  clusterId: ClusterId,
  settings: ClusterSettings,
  { now, limit }: { now: Date; limit: number },
): Pick<HashingQueueView, 'busy' | 'candidates'> {
  const volumes = [...tables.volumes.values()]
    .filter((volume) => volume.clusterId === clusterId)
    .sort((a, b) => compareIds(a.id, b.id));
  const dueAt = lastCronTime(settings['snapshot-data-integrity-cronjob'], now);
  const isBusy = ({ hashing, fill, layerTask }: Volume) =>
    hashing !== undefined || fill !== undefined || layerTask?.kind === 'purge';
  return {
    busy: volumes.filter(isBusy).map(({ id }) => ({ volumeId: id, nodeIds: nodesOf(tables, id) })),
    candidates: volumes
      .flatMap((volume) => candidateOf(tables, volume, settings))
      .filter(
        ({ volumeId, isAsked }) =>
          isAsked || isCheckedBefore(tables.volumes.get(volumeId)?.integrityCheckedAt, dueAt),
      )
      .sort((a, b) => Number(b.isAsked) - Number(a.isAsked) || a.checkedAt.getTime() - b.checkedAt.getTime())
      .slice(0, limit),
  };
}

function isCheckedBefore(checkedAt: Date | undefined, dueAt: Date | undefined): boolean {
  return checkedAt === undefined || (dueAt !== undefined && checkedAt.getTime() < dueAt.getTime());
}

function candidateOf(tables: Tables, volume: Volume, settings: ClusterSettings): Candidate[] {
  const { id, state, robustness, hashing, fill, deletionRequestedAt, spec, integrityCheckedAt } = volume;
  const integrity = effectiveValue(spec, settings, 'snapshotDataIntegrity');
  const isServed = state === 'attached' && robustness === 'healthy' && deletionRequestedAt === undefined;
  const snapshots = [...tables.snapshots.values()].filter(
    (row) => row.volumeId === id && row.origin === 'user' && row.state === 'ready',
  );
  if (!isServed || hashing !== undefined || fill !== undefined || integrity === 'disabled') return [];
  if (snapshots.length === 0) return [];
  const oldestMs = Math.min(...snapshots.map(({ createdAt }) => createdAt.getTime()));
  const checkedAt = new Date(Math.max(oldestMs, integrityCheckedAt?.getTime() ?? 0));
  const isAsked = snapshots.some(({ hashRequest }) => hashRequest?.automatic === true);
  return [{ volumeId: id, nodeIds: nodesOf(tables, id), checkedAt, isAsked }];
}

function nodesOf(tables: Tables, volumeId: VolumeId) {
  const nodeIds = [...tables.replicas.values()]
    .filter((replica) => replica.volumeId === volumeId)
    .flatMap(({ nodeId }) => (nodeId === undefined ? [] : [nodeId]));
  return [...new Set(nodeIds)].sort(compareIds);
}
