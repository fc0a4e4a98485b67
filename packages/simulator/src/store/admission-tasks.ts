import type { AdmissionView } from '@holdfast/control/ports/store.js';
import { lastChecks } from '@holdfast/core/admission/task-queue.js';
import { asId, type ClusterId, compareIds, type VolumeId } from '@holdfast/core/model/ids.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import type { TaskVolume } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { fillOf, heavyTaskOf } from '@holdfast/core/model/volume-task.js';
import { effectiveValue } from '@holdfast/core/policy/volume-settings.js';
import { BUSY, type Tables } from './tables.js';

type Tasks = AdmissionView['tasks'];
type Candidate = Tasks['candidates'][number];

/** See `Store.loadAdmissions`. */
export function admissionTasks(
  tables: Tables,
  clusterId: ClusterId,
  settings: ClusterSettings,
  { now, limit }: { now: Date; limit: number },
): Tasks {
  const own = (volumes: readonly Volume[]) =>
    volumes.filter((volume) => volume.clusterId === clusterId).sort((a, b) => compareIds(a.id, b.id));
  const busy = own(tables.volumes.by('busy', BUSY));
  const dueAt = lastChecks(settings, now);
  const isAdmitted = (volume: Volume) =>
    volume.hashing !== undefined || heavyTaskOf(volume)?.admittedAt !== undefined;
  return {
    admitted: busy.filter(isAdmitted).map(({ id }) => taskVolume(tables, id)),
    waiting: busy
      .flatMap((volume) => waitingOf(tables, volume))
      .sort((a, b) => a.since.getTime() - b.since.getTime())
      .slice(0, limit),
    candidates: tables.snapshots
      .valuesOf('volume')
      .flatMap((id) => tables.volumes.get(asId<VolumeId>(id)) ?? [])
      .filter((volume) => volume.clusterId === clusterId)
      .flatMap((volume) => candidateOf(tables, volume, settings, dueAt[volume.spec.dataEngine]))
      .sort(
        (a, b) =>
          Number(a.askedAt === undefined) - Number(b.askedAt === undefined) ||
          a.checkedAt.getTime() - b.checkedAt.getTime() ||
          compareIds(a.volumeId, b.volumeId),
      )
      .slice(0, limit),
  };
}

function waitingOf(tables: Tables, volume: Volume): Tasks['waiting'][number][] {
  const { id, lifecycle } = volume;
  const work = heavyTaskOf(volume);
  const holder = lifecycle.state === 'attached' ? tables.nodes.get(lifecycle.grant.nodeId) : undefined;
  const isServed = holder !== undefined && isNodeReady(holder);
  const isRebuilt = tables.rebuilds.by('volume', id).some(({ state }) => state === 'running');
  if (work === undefined || !isServed || isRebuilt) return [];
  if (work.admittedAt !== undefined) return [];
  return [{ volumeId: id, nodeIds: nodesOf(tables, id), since: work.trouble?.at ?? work.requestedAt }];
}

/** @param dueAt when all were to be checked last */
function candidateOf(
  tables: Tables,
  volume: Volume,
  settings: ClusterSettings,
  dueAt: Date | undefined,
): Candidate[] {
  const { id, lifecycle, robustness, hashing, spec, integrityCheckedAt } = volume;
  const integrity = effectiveValue(spec, settings, 'snapshotDataIntegrity');
  const isServed = lifecycle.state === 'attached' && robustness === 'healthy';
  const snapshots = tables.snapshots
    .by('volume', id)
    .filter(({ origin, state }) => origin === 'user' && state === 'ready');
  if (!isServed || hashing !== undefined || fillOf(volume) !== undefined || integrity === 'disabled')
    return [];
  if (snapshots.length === 0) return [];
  const oldestMs = Math.min(...snapshots.map(({ createdAt }) => createdAt.getTime()));
  const checkedAt = new Date(Math.max(oldestMs, integrityCheckedAt?.getTime() ?? 0));
  const asked = snapshots.flatMap(({ hashRequest }) =>
    hashRequest?.automatic === true ? [hashRequest.requestedAt.getTime()] : [],
  );
  const askedAt = asked.length === 0 ? undefined : new Date(Math.min(...asked));
  const isDue = dueAt !== undefined && checkedAt.getTime() < dueAt.getTime();
  if (askedAt === undefined && !isDue) return [];
  return [{ ...taskVolume(tables, id), dataEngine: spec.dataEngine, checkedAt, askedAt }];
}

/** A volume with the nodes of its copies; of a clone that is being filled, also those of its source's. */
export function taskVolume(tables: Tables, volumeId: VolumeId): TaskVolume {
  return { volumeId, nodeIds: nodesOf(tables, volumeId) };
}

function nodesOf(tables: Tables, volumeId: VolumeId) {
  const volume = tables.volumes.get(volumeId);
  const sourceId = volume === undefined ? undefined : fillOf(volume)?.sourceVolumeId;
  const nodeIds = [volumeId, sourceId]
    .flatMap((id) => tables.replicas.by('volume', id))
    .flatMap(({ nodeId }) => (nodeId === undefined ? [] : [nodeId]));
  return [...new Set(nodeIds)].sort(compareIds);
}
