import type { Condition } from './condition.js';
import type { CopyRecord } from './copy-record.js';
import type { ClusterId, OrganizationId, ProjectId, ReplicaId, VolumeId } from './ids.js';
import type { Labels } from './labels.js';
import type { VolumeChain } from './layer-task.js';
import type { DataEngine } from './node.js';
import type { RecurringSnapshot } from './recurring-snapshot.js';
import type { BalanceHistory } from './relocation.js';
import type { StoredExplanation } from './stored-explanation.js';
import type { VolumeFill } from './volume-fill.js';
import type { VolumeLifecycle } from './volume-lifecycle.js';
import type { VolumeOverrides } from './volume-overrides.js';
import { newFill, type VolumeTask } from './volume-task.js';

export type Robustness = 'healthy' | 'degraded' | 'faulted' | 'unknown';
export type DataLocality = 'disabled' | 'best-effort' | 'strict-local';
/** A volume's own answer to a cluster setting; `ignored` inherits it. */
export type Override = 'ignored' | 'enabled' | 'disabled';
/** Which disk of the chosen node a replica gets: the emptiest, or the fullest that still holds it. */
export type DiskChoice = Exclude<VolumeOverrides['replicaDiskChoice'], 'ignored'>;
/** Which snapshots the worker hashes in the background: none; all in full; those that changed since their last hash. */
export type SnapshotDataIntegrity = Exclude<VolumeOverrides['snapshotDataIntegrity'], 'ignored'>;
export type VolumeConditionType =
  | 'Scheduled'
  | 'TooManySnapshots'
  | 'OfflineRebuilding'
  | 'RebuildWaiting'
  | 'AutoBalance'
  | 'DataLocality'
  | 'PlacementFits'
  | 'CopiesDiffer';

export const REPLICA_COUNT_MIN = 1;
/** Longhorn's bound; more copies cost bandwidth on every write and buy nothing. */
export const REPLICA_COUNT_MAX = 20;

/** Admission for background snapshot hashing: a setting limits how many volumes per node may read whole layers at once. */
export type HashingAdmission = {
  admittedAt: Date;
  /** The periodic check of all snapshots is due; else only those that wait for their first. */
  isPass: boolean;
};

/** Where copies may be: in a zone, a region, or a zone of a region. A field that is `undefined` matches every node. */
export type TopologyTerm = { zone: string | undefined; region: string | undefined };

/** Tags of nodes and disks that the grant of a cluster demands of the places of copies. */
export type GrantedTags = { readonly nodeTags: readonly string[]; readonly diskTags: readonly string[] };

/** Desired state of a volume, set by users. `generation` grows with each change of it. */
export type VolumeSpec = VolumeOverrides & {
  sizeBytes: number;
  numberOfReplicas: number;
  dataEngine: DataEngine;
  nodeSelector: readonly string[];
  diskSelector: readonly string[];
  /** Any of them has to match; empty: anywhere. Never changes: copies that are placed keep to it. */
  topologyRequirement: readonly TopologyTerm[];
  dataLocality: DataLocality;
};

/**
 * States of a volume during which none of its copies may be rebuilt: it moves to another engine, is filled from a backup by
 * an engine that can't rebuild meanwhile, or follows a backup of another cluster.
 */
export const REBUILD_HOLDS = ['migrating', 'restoring', 'standby'] as const;
export type RebuildHold = (typeof REBUILD_HOLDS)[number];

/** Why the worker can't bring the volume further, and what a user may do about it. */
export type Attention = {
  code: string;
  message: string;
  cures: readonly string[];
  since: Date;
};

/**
 * `equal`: the current copies hold the same. `damaged`: most of them do, and the others are failed. `tie`: a person decides.
 * `unjudged`: they differ, and may do so lawfully.
 */
export type VerificationVerdict = 'equal' | 'damaged' | 'tie' | 'unjudged';

export type VolumeVerification = {
  requestedAt: Date;
  state: 'running' | 'done' | 'failed';
  finishedAt: Date | undefined;
  /** True when every copy compared has the same contents. */
  equal: boolean | undefined;
  /** The volume's epoch at the request: in a later one the copies have been written. Absent in rows of older versions. */
  epoch?: number | undefined;
  /** Begun by the schedule: at a limited rate, and anything else that is to be done comes first. */
  scheduled?: true | undefined;
  /** Verdict of the checksums; absent before it is done, and in rows of older versions. */
  verdict?: VerificationVerdict | undefined;
  /** Copies that were found to be current, and the highest record; absent where that is not known. */
  believed?: { readonly record: CopyRecord; readonly replicaIds: readonly ReplicaId[] } | undefined;
  replicas: readonly {
    replicaId: string;
    checksum: string | null;
    writtenBytes: number | null;
    error: string | null;
  }[];
  message: string;
};

export type Volume = {
  id: VolumeId;
  organizationId: OrganizationId;
  projectId: ProjectId;
  clusterId: ClusterId;
  name: string;
  spec: VolumeSpec;
  /** Set for a volume in another organization's cluster, by its grant; `undefined`: the cluster is its organization's own. */
  grantedTags?: GrantedTags | undefined;
  /** `undefined`: it has none. */
  labels?: Labels | undefined;
  generation: number;
  /** The newest generation that the reconciler has acted on. */
  observedGeneration: number;

  lifecycle: VolumeLifecycle;
  robustness: Robustness;
  /** Grows with every attach. Copies refuse anything older: that is the fence. */
  epoch: number;
  /**
   * Names the grant of the epoch. A database that lost its last commits grants an epoch twice, and copies serve the
   * first of the two only. `undefined` in rows of older versions.
   */
  grantId?: string | undefined;
  /** The highest copy record Postgres knows. */
  record: CopyRecord | undefined;
  /**
   * When the database was restored from a backup, until an engine has started since: its records may be older than the copies'.
   * `undefined`: it has all records that it was ever asked to hold.
   */
  restoredAt?: Date | undefined;
  /** Set at entry into `degraded`, cleared on leaving it. */
  lastDegradedAt: Date | undefined;
  attention: Attention | undefined;
  conditions: readonly Condition<VolumeConditionType>[];
  /** Why a missing copy has no place, where there is no replica yet that could hold it. */
  explanation: StoredExplanation | undefined;
  /** Of the fullest copy: bytes of blocks that hold data. */
  writtenBytes: number;
  verification: VolumeVerification | undefined;
  /** Undefined until it was attached for the first time. */
  chain: VolumeChain | undefined;
  task: VolumeTask | undefined;
  /** In the order of their names. */
  recurringSnapshots: readonly RecurringSnapshot[];
  /** When its snapshots' periodic check was last begun. */
  integrityCheckedAt: Date | undefined;
  /** Set while the worker may hash its snapshots in the background. */
  hashing: HashingAdmission | undefined;
  /** Set by what brings the volume into such a state, never by its users (docs/design/rebuild.md). */
  rebuildHold: RebuildHold | undefined;
  /** `undefined`: auto-balance has not moved a copy of it, or a user has set its `replicaAutoBalance` since. */
  balance?: BalanceHistory | undefined;
  createdAt: Date;
  /** For optimistic concurrency: every change of the row bumps it. */
  version: number;
};

/** True until an engine has started on what the copies say, after the database was restored from a backup. */
export function isRestored({ restoredAt }: Pick<Volume, 'restoredAt'>): boolean {
  return restoredAt !== undefined;
}

/**
 * True when an engine that says so of itself is the one of the volume's attachment: of its epoch, and of its grant where both
 * are named.
 */
export function speaksFor(
  said: { epoch: number; grantId?: string | undefined },
  { epoch, grantId }: Pick<Volume, 'epoch' | 'grantId'>,
): boolean {
  const isOther = said.grantId !== undefined && grantId !== undefined && said.grantId !== grantId;
  return said.epoch === epoch && !isOther;
}

/** Part of a volume that is decided before it exists. */
export type NewVolumeFacts = Pick<
  Volume,
  'id' | 'organizationId' | 'projectId' | 'clusterId' | 'name' | 'spec' | 'createdAt'
> & {
  /** Its clone source, from which it is filled before users may attach it. */
  fill: VolumeFill | undefined;
  grantedTags?: GrantedTags | undefined;
  labels?: Labels | undefined;
};

/** A volume that was just created: nothing of it is attached, wanted, observed or written. */
export function newVolume(facts: NewVolumeFacts): Volume {
  const { id, organizationId, projectId, clusterId, name, spec, fill, grantedTags, labels, createdAt } =
    facts;
  return {
    id,
    organizationId,
    projectId,
    clusterId,
    name,
    spec,
    ...(grantedTags === undefined ? {} : { grantedTags }),
    ...(labels === undefined ? {} : { labels }),
    generation: 1,
    observedGeneration: 0,
    lifecycle: { state: 'creating', request: undefined },
    robustness: 'unknown',
    epoch: 0,
    record: undefined,
    lastDegradedAt: undefined,
    attention: undefined,
    conditions: [],
    explanation: undefined,
    writtenBytes: 0,
    verification: undefined,
    chain: undefined,
    task: fill === undefined ? undefined : newFill(fill),
    recurringSnapshots: [],
    integrityCheckedAt: undefined,
    hashing: undefined,
    rebuildHold: undefined,
    createdAt,
    version: 1,
  };
}
