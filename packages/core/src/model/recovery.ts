/** Recovery of a volume whose rows the control plane's database has lost, from the copies that agents found on their disks. */
import type { CopyRecord } from './copy-record.js';
import type { ClusterId, DiskId, NodeId, OrganizationId, ProjectId, ReplicaId, VolumeId } from './ids.js';
import type { OrphanInContext } from './orphan.js';
import type { VolumeView } from './views.js';

/** Input of the decision about one volume. */
export type RecoveryView = {
  readonly volumeId: VolumeId;
  /** All orphans that say they are of the volume. */
  readonly copies: readonly OrphanInContext[];
  /** The volume as the database knows it; `undefined`: it does not. */
  readonly known: Pick<VolumeView, 'volume' | 'replicas'> | undefined;
  readonly fleet: VolumeView['fleet'];
  readonly place: RecoveryPlace;
  readonly choice: RecoveryChoice;
};

/** Where recovered volumes go. */
export type RecoveryPlace = {
  readonly clusterId: ClusterId;
  readonly organizationId: OrganizationId;
  /** Of the organization, the oldest first. */
  readonly projects: readonly { readonly id: ProjectId; readonly name: string }[];
};

/** A user's additions to the copies' descriptions. */
export type RecoveryChoice = {
  /** The cluster that the copies are of, where that is another one than this: its control plane is lost for good. */
  readonly fromClusterId?: ClusterId | undefined;
  readonly projectId?: ProjectId | undefined;
  readonly name?: string | undefined;
  /** Goes on although copies that the newest record names were not found; the volume waits for them. */
  readonly acceptsMissing?: boolean | undefined;
  /** Recovers a volume that was deleted while a node of it was down. */
  readonly acceptsDeleted?: boolean | undefined;
};

/**
 * `current`: the newest record names it. `stale`: that record leaves it out, or it was set back. `unfinished`: it never was a full
 * copy. `silent`: its agent has not returned its description. `leaving`: it is being removed.
 */
export type FoundVerdict = 'current' | 'stale' | 'unfinished' | 'silent' | 'leaving';

export type FoundCopy = {
  readonly replicaId: ReplicaId;
  readonly nodeId: NodeId;
  readonly nodeName: string;
  readonly diskId: DiskId;
  readonly diskName: string;
  readonly verdict: FoundVerdict;
  readonly record: OrphanInContext['orphan']['record'];
  readonly writtenBytes: number;
};

/** Why a volume is not recovered. Codes are API. */
export type RecoveryRefusal =
  | 'NotDescribed'
  | 'Deleted'
  | 'NoCurrentCopy'
  | 'MissingCopies'
  | 'OtherCluster'
  | 'OtherOrganization'
  | 'Forked'
  | 'EnginesDiffer'
  | 'NoProject'
  | 'NotNeeded';

export type RecoveryObstacle = {
  readonly code: RecoveryRefusal;
  /** A sentence for users. */
  readonly why: string;
  readonly cures: readonly string[];
};

/** Result of recovering the volume, and the obstacle if it can't be done now. */
export type RecoveryPlan = {
  readonly volumeId: VolumeId;
  readonly name: string;
  /** The smallest size of its current copies; `undefined` until one has reported it. */
  readonly sizeBytes: number | undefined;
  readonly numberOfReplicas: number | undefined;
  readonly projectId: ProjectId | undefined;
  /** The cluster that its copies say they are of; `undefined`: they do not say. */
  readonly fromClusterId: ClusterId | undefined;
  /** True if the volume exists and only misses these copies. */
  readonly isKnown: boolean;
  readonly copies: readonly FoundCopy[];
  /** The newest record, which says which copies are current. */
  readonly record: CopyRecord | undefined;
  /** Members of the newest record that were not found. */
  readonly missing: readonly ReplicaId[];
  readonly obstacle: RecoveryObstacle | undefined;
};
