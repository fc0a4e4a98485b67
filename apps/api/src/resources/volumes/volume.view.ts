import { type AccessFacts, isAllowedWithin } from '@holdfast/access/decide-access.js';
import {
  isWorkersOwn,
  type ShownVolume,
  shownConditions,
  shownState,
  waitsForAdmission,
} from '@holdfast/core/lifecycle/shown-volume.js';
import type { ProjectId } from '@holdfast/core/model/ids.js';
import { replicaState } from '@holdfast/core/model/replica.js';
import type { VolumeVerification } from '@holdfast/core/model/volume.js';
import { endpointOf, holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { fillOf, layerTaskOf } from '@holdfast/core/model/volume-task.js';
import type { PlacedReplica, VolumeWithReplicas } from '@holdfast/database/queries/volumes.js';
import type { z } from 'zod';
import { conditionView, isoOf, isoOrNull } from '../../http/schemas.js';
import { recurringSnapshotView } from './recurring-snapshot.schemas.js';
import type { replicaSchema, verificationSchema, volumeSchema } from './volume.schemas.js';

export type VolumeView = z.infer<typeof volumeSchema>;
export type ReplicaView = z.infer<typeof replicaSchema>;

/** A volume as the API shows it to this user. */
export function volumeView(found: VolumeWithReplicas, user: AccessFacts): VolumeView {
  return volumeViewOf(found, mayWriteIn(user, found.volume.projectId));
}

/** May the user change volumes of the project? */
export function mayWriteIn(user: AccessFacts, projectId: ProjectId): boolean {
  return isAllowedWithin(user, 'volume:write', projectId);
}

/** Depends on nothing else, so that it is cached while the rows are unchanged (docs/design/api-contract.md). */
export function volumeViewOf({ volume, replicas }: VolumeWithReplicas, mayWrite: boolean): VolumeView {
  const {
    sizeBytes,
    numberOfReplicas,
    dataEngine,
    nodeSelector,
    diskSelector,
    topologyRequirement,
    dataLocality,
    ...overrides
  } = volume.spec;
  return {
    id: volume.id,
    name: volume.name,
    organizationId: volume.organizationId,
    projectId: volume.projectId,
    clusterId: volume.clusterId,
    size: sizeBytes,
    writtenBytes: volume.writtenBytes,
    numberOfReplicas,
    dataEngine,
    nodeSelector: [...nodeSelector],
    diskSelector: [...diskSelector],
    topologyRequirement: topologyRequirement.map((term) => ({ ...term })),
    dataLocality,
    labels: { ...volume.labels },
    ...overrides,
    integrityCheckedAt: isoOrNull(volume.integrityCheckedAt),
    state: shownState(volume),
    robustness: volume.robustness,
    attachedNodeId: isWorkersOwn(volume) ? null : (holderOf(volume) ?? null),
    endpoint: endpointView(volume, mayWrite),
    attention: attentionView(volume),
    rebuildHold: volume.rebuildHold ?? null,
    conditions: shownConditions(volume).map(conditionView),
    replicas: replicas.map(replicaView),
    verification: volume.verification === undefined ? null : verificationView(volume.verification),
    chain: chainView(volume),
    task: taskView(volume),
    fill: fillView(volume),
    recurringSnapshots: volume.recurringSnapshots.map(recurringSnapshotView),
    lastDegradedAt: isoOrNull(volume.lastDegradedAt),
    generation: volume.generation,
    observedGeneration: volume.observedGeneration,
    version: volume.version,
    createdAt: volume.createdAt.toISOString(),
  };
}

/** The address holds the attachment's secret, which allows writing: only users that may change the volume see it. */
function endpointView(volume: ShownVolume, mayWrite: boolean): VolumeView['endpoint'] {
  const endpoint = endpointOf(volume);
  if (isWorkersOwn(volume) || endpoint === undefined) return null;
  if (!mayWrite) return { nbdUri: null };
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const scheme = endpoint.tls === true ? 'nbds' : 'nbd';
  return { nbdUri: `${scheme}://${host}:${endpoint.port}/${encodeURIComponent(endpoint.exportName)}` };
}

function attentionView({ attention }: ShownVolume): VolumeView['attention'] {
  if (attention === undefined) return null;
  const { code, message, cures, since } = attention;
  return { code, message, cures: [...cures], since: since.toISOString() };
}

function chainView({ chain }: ShownVolume): VolumeView['chain'] {
  if (chain === undefined) return null;
  const { headParentId, headBytes, busy } = chain;
  return { headParentId: headParentId ?? null, headBytes, busy };
}

function fillView(volume: ShownVolume): VolumeView['fill'] {
  const { writtenBytes } = volume;
  const fill = fillOf(volume);
  if (fill === undefined) return null;
  const { sourceVolumeId, snapshotId, trouble } = fill;
  const error = trouble?.message ?? null;
  return {
    sourceVolumeId,
    snapshotId,
    bytes: writtenBytes,
    error,
    waitingFor: waitsForAdmission(volume) ?? null,
  };
}

function taskView(volume: ShownVolume): VolumeView['task'] {
  const { epoch } = volume;
  const task = layerTaskOf(volume);
  if (task === undefined) return null;
  return {
    kind: task.kind,
    size: task.kind === 'expand' ? task.sizeBytes : null,
    snapshotId: task.kind === 'revert' ? task.snapshotId : null,
    state: task.startedEpoch === epoch ? 'running' : 'waiting',
    error: task.trouble?.message ?? null,
    waitingFor: waitsForAdmission(volume) ?? null,
    requestedAt: task.requestedAt.toISOString(),
  };
}

export function replicaView({ replica, zone }: PlacedReplica): ReplicaView {
  return {
    id: replica.id,
    volumeId: replica.volumeId,
    nodeId: replica.nodeId ?? null,
    diskId: replica.diskId ?? null,
    zone: zone ?? null,
    mode: replica.mode ?? null,
    state: replicaState(replica),
    intent: replica.intent,
    size: replica.sizeBytes,
    writtenBytes: replica.writtenBytes,
    healthyAt: isoOrNull(replica.healthyAt),
    lastHealthyAt: isoOrNull(replica.lastHealthyAt),
    failedAt: isoOrNull(replica.failedAt),
    lastFailedAt: isoOrNull(replica.lastFailedAt),
    failure: replica.failure ?? null,
    relocation: relocationView(replica),
    rebuildRetryCount: replica.rebuildRetryCount,
    createdAt: isoOf(replica.createdAt),
  };
}

function relocationView({ relocation }: PlacedReplica['replica']): ReplicaView['relocation'] {
  if (relocation === undefined) return null;
  const { reason, replacesId, gain, at } = relocation;
  return { reason, replacesReplicaId: replacesId, gain, at: at.toISOString() };
}

export function verificationView(verification: VolumeVerification): z.infer<typeof verificationSchema> {
  return {
    state: verification.state,
    equal: verification.equal ?? null,
    verdict: verification.verdict ?? null,
    message: verification.message,
    requestedAt: verification.requestedAt.toISOString(),
    finishedAt: isoOrNull(verification.finishedAt),
    replicas: verification.replicas.map((replica) => ({ ...replica })),
  };
}
