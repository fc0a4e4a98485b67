/** Turns a vector's volume and replicas into a placement request with Longhorn's own inputs. */
import { asId, type DiskId, type NodeId, type ReplicaId, type VolumeId } from '../../model/ids.js';
import { REBUILD_RETRIES_MAX, type Replica, type ReplicaIntent } from '../../model/replica.js';
import type { Override, TopologyTerm } from '../../model/volume.js';
import type { CloneSource, LonghornInputs } from '../framework/longhorn-inputs.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { antiAffinity } from '../framework/placement-request.js';
import type { VectorNode, VectorReplica, VectorSettings, VectorVolume } from './vector.js';

const NO_DATE = new Date(0);

/** What Longhorn reads as a time. JavaScript's own parser takes much else, such as a day alone. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

export type VectorPlacement = {
  readonly volume: VectorVolume;
  /** All replicas of the volume, the one to place too. */
  readonly replicas: readonly VectorReplica[];
  readonly cloneSourceReplicas: readonly VectorReplica[];
  readonly settings: VectorSettings;
  readonly nodes: readonly VectorNode[];
};

export function toRequest(placement: VectorPlacement, replica: VectorReplica): PlacementRequest {
  const { volume, settings, replicas } = placement;
  return {
    sizeBytes: volume.size,
    writtenBytes: volume.actualSize,
    dataEngine: volume.dataEngine,
    nodeSelector: volume.nodeSelector,
    diskSelector: volume.diskSelector,
    nodeAntiAffinity: antiAffinity(
      toOverride(volume.replicaSoftAntiAffinity),
      settings.replicaSoftAntiAffinity,
    ),
    zoneAntiAffinity: antiAffinity(
      toOverride(volume.replicaZoneSoftAntiAffinity),
      settings.replicaZoneSoftAntiAffinity,
    ),
    diskAntiAffinity: antiAffinity(
      toOverride(volume.replicaDiskSoftAntiAffinity),
      settings.replicaDiskSoftAntiAffinity,
    ),
    replicas: replicas.map(toReplica),
    requiredNodeId: optional(replica.hardNodeAffinity, asId<NodeId>),
    localNodeId:
      volume.dataLocality === 'best-effort' ? optional(volume.attachedNodeId, asId<NodeId>) : undefined,
    topology: volume.topologyRequirement.map(toTerm),
    reuseDiskId: undefined,
    unrecordedBytes: unrecordedBytes(placement),
    longhorn: toLonghornInputs(placement, replica),
  };
}

/**
 * Since when a degraded volume is so. A time that can't be read is told apart, because Longhorn fails on it.
 */
export function degradedSince(volume: VectorVolume): Date | 'unreadable' | undefined {
  if (volume.robustness !== 'degraded') return undefined;
  return toDate(volume.lastDegradedAt) ?? 'unreadable';
}

export function toReplica(replica: VectorReplica): Replica {
  const isGivenUp = replica.deleting && replica.evictionRequested;
  return {
    id: asId<ReplicaId>(replica.name),
    volumeId: asId<VolumeId>(replica.volumeName),
    nodeId: optional(replica.nodeId, asId<NodeId>),
    diskId: optional(replica.diskId, asId<DiskId>),
    sizeBytes: replica.size,
    intent: toIntent(replica),
    mode: undefined,
    provisioned: true,
    healthyAt: toMark(replica.healthyAt),
    lastHealthyAt: undefined,
    failedAt: toMark(replica.failedAt),
    lastFailedAt: undefined,
    failure: undefined,
    explanation: undefined,
    // Longhorn keeps two flags where we have one intent. With both set it never takes a failed replica back, which is
    // what used-up tries mean.
    rebuildRetryCount: isGivenUp ? REBUILD_RETRIES_MAX : replica.rebuildRetryCount,
    writtenBytes: 0,
    secret: '',
    createdAt: NO_DATE,
    version: 1,
  };
}

function toLonghornInputs(placement: VectorPlacement, replica: VectorReplica): LonghornInputs {
  const { volume, settings } = placement;
  const degradedAt = degradedSince(volume);
  return {
    replicaSizeBytes: replica.size,
    degradedAt: degradedAt === 'unreadable' ? undefined : degradedAt,
    autoBalance: effectiveAutoBalance(volume.replicaAutoBalance, settings.replicaAutoBalance),
    backingImage: volume.backingImage,
    cloneSources:
      volume.linkedCloneOfVolume === '' ? undefined : cloneSourcesFor(replica, placement.cloneSourceReplicas),
  };
}

function effectiveAutoBalance(ofVolume: string, ofCluster: string): LonghornInputs['autoBalance'] {
  const value = ofVolume === '' || ofVolume === 'ignored' ? ofCluster : ofVolume;
  return value === 'least-effort' || value === 'best-effort' ? value : 'disabled';
}

/** Where a clone's replica may go: to its own source where it names one, else to any that is whole and stays. */
function cloneSourcesFor(
  { linkedCloneSrcReplicaName }: VectorReplica,
  sources: readonly VectorReplica[],
): CloneSource[] {
  return sources
    .filter(({ name }) => linkedCloneSrcReplicaName === '' || name === linkedCloneSrcReplicaName)
    .filter(
      ({ healthyAt, failedAt, evictionRequested }) =>
        healthyAt !== '' && failedAt === '' && !evictionRequested,
    )
    .filter(({ nodeId, diskId }) => nodeId !== '' && diskId !== '')
    .map(({ nodeId, diskId }) => ({ nodeId: asId<NodeId>(nodeId), diskId: asId<DiskId>(diskId) }));
}

/** Sizes of the volume's own replicas that a disk's status does not name yet, placed earlier in the same pass. */
function unrecordedBytes({ nodes, replicas }: VectorPlacement): Map<DiskId, number> {
  const bytes = new Map<DiskId, number>();
  for (const node of nodes) {
    for (const disk of node.disks) {
      const added = replicas
        .filter((replica) => replica.nodeId === node.name && replica.diskId === disk.id)
        .filter((replica) => !Object.hasOwn(disk.scheduledReplicas, replica.name))
        .reduce((sum, { size }) => sum + size, 0);
      if (added > 0) bytes.set(asId<DiskId>(disk.id), added);
    }
  }
  return bytes;
}

function toIntent({ deleting, evictionRequested }: VectorReplica): ReplicaIntent {
  if (deleting) return 'remove';
  return evictionRequested ? 'evict' : 'keep';
}

function toOverride(value: VectorVolume['replicaSoftAntiAffinity']): Override {
  return value === '' ? 'ignored' : value;
}

function toTerm({ zone, region }: { zone: string; region: string }): TopologyTerm {
  return { zone: optional(zone, String), region: optional(region, String) };
}

/** For times that matter by being there: one that can't be read still counts. */
function toMark(time: string): Date | undefined {
  return time === '' ? undefined : (toDate(time) ?? NO_DATE);
}

function toDate(time: string): Date | undefined {
  const date = new Date(time);
  return RFC_3339.test(time) && !Number.isNaN(date.getTime()) ? date : undefined;
}

function optional<T>(text: string, convert: (text: string) => T): T | undefined {
  return text === '' ? undefined : convert(text);
}
