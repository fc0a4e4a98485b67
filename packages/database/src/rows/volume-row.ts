import { HIDDEN_FIELDS, type HiddenField, type ShownVolume } from '@holdfast/core/lifecycle/shown-volume.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { ClusterId, OrganizationId, ProjectId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Labels } from '@holdfast/core/model/labels.js';
import type { VolumeChain } from '@holdfast/core/model/layer-task.js';
import type { RecurringSnapshot } from '@holdfast/core/model/recurring-snapshot.js';
import type { BalanceHistory } from '@holdfast/core/model/relocation.js';
import type { StoredExplanation } from '@holdfast/core/model/stored-explanation.js';
import type {
  Attention,
  GrantedTags,
  HashingAdmission,
  TopologyTerm,
  Volume,
  VolumeConditionType,
  VolumeSpec,
  VolumeVerification,
} from '@holdfast/core/model/volume.js';
import { asJson, type Column, columnsOf, selectList, type Table } from '../sql/table.js';
import { orUndefined, readConditions, readLabels, type Stored, type StoredCondition } from './json.js';
import { OVERRIDE_COLUMNS, type OverrideRow, readOverrides } from './override-columns.js';
import { LIFECYCLE_COLUMNS, type LifecycleRow, readLifecycle } from './volume-lifecycle-columns.js';
import { readTask, TASK_COLUMNS, type TaskRow } from './volume-task-columns.js';

const column = columnsOf<Volume>();

/** A column that holds one part of the spec; the spec is always replaced as a whole. */
function specColumn(part: keyof VolumeSpec, name: string): Column<Volume> {
  return column('spec', name, (spec) => spec[part]);
}

export const VOLUMES: Table<Volume> = {
  name: 'volume',
  columns: [
    column('id', 'id'),
    column('projectId', 'project_id'),
    column('clusterId', 'cluster_id'),
    column('name', 'name'),
    specColumn('sizeBytes', 'size_bytes'),
    specColumn('numberOfReplicas', 'number_of_replicas'),
    specColumn('dataEngine', 'data_engine'),
    specColumn('nodeSelector', 'node_selector'),
    specColumn('diskSelector', 'disk_selector'),
    column('spec', 'topology_requirement', ({ topologyRequirement }) => asJson(topologyRequirement)),
    specColumn('dataLocality', 'data_locality'),
    ...OVERRIDE_COLUMNS,
    column('generation', 'generation'),
    column('observedGeneration', 'observed_generation'),
    ...LIFECYCLE_COLUMNS,
    column('robustness', 'robustness'),
    column('epoch', 'epoch'),
    column('grantId', 'grant_id'),
    column('record', 'record', asJson),
    column('restoredAt', 'restored_at'),
    column('lastDegradedAt', 'last_degraded_at'),
    column('attention', 'attention', asJson),
    column('conditions', 'conditions', asJson),
    column('explanation', 'explanation', asJson),
    column('writtenBytes', 'written_bytes'),
    column('verification', 'verification', asJson),
    column('chain', 'chain', asJson),
    ...TASK_COLUMNS,
    column('recurringSnapshots', 'recurring_snapshots', asJson),
    column('recurringSnapshots', 'recurring_due_at', earliestDue),
    column('integrityCheckedAt', 'integrity_checked_at'),
    column('hashing', 'hashing', asJson),
    column('rebuildHold', 'rebuild_hold'),
    column('balance', 'balance', asJson),
    column('grantedTags', 'granted_tags', asJson),
    column('labels', 'labels', asJson),
    column('createdAt', 'created_at'),
  ],
};

/** As Postgres returns it: the CHECK constraints and our own inserts vouch for these types. */
export type VolumeRow = LifecycleRow &
  TaskRow &
  OverrideRow & {
    id: VolumeId;
    organization_id: OrganizationId;
    project_id: ProjectId;
    cluster_id: ClusterId;
    name: string;
    size_bytes: number;
    number_of_replicas: number;
    data_engine: VolumeSpec['dataEngine'];
    node_selector: string[];
    disk_selector: string[];
    topology_requirement: Stored<TopologyTerm>[];
    data_locality: VolumeSpec['dataLocality'];
    generation: number;
    observed_generation: number;
    robustness: Volume['robustness'];
    epoch: number;
    grant_id: string | null;
    record: CopyRecord | null;
    last_degraded_at: Date | null;
    attention: Stored<Attention> | null;
    conditions: StoredCondition<VolumeConditionType>[];
    explanation: StoredExplanation | null;
    written_bytes: number;
    verification: Stored<VolumeVerification> | null;
    chain: Stored<VolumeChain> | null;
    recurring_snapshots: readonly Stored<RecurringSnapshot>[];
    integrity_checked_at: Date | null;
    hashing: Stored<HashingAdmission> | null;
    rebuild_hold: Volume['rebuildHold'] | null;
    balance: Stored<BalanceHistory> | null;
    restored_at: Date | null;
    granted_tags: GrantedTags | null;
    labels: Labels | null;
    created_at: Date;
    version: number;
    reconcile_due_at: Date | null;
    reconcile_marks: number;
  };

/** A volume's row without what users are not shown of it, which is most of a row. */
export type ShownVolumeRow = Omit<VolumeRow, HiddenField>;

/** Columns that {@link readShownVolume} needs. */
export function selectShownVolume(alias: string): string {
  const hidden: ReadonlySet<keyof Volume> = new Set(HIDDEN_FIELDS);
  const columns = VOLUMES.columns.filter(({ field }) => !hidden.has(field));
  return `${selectList({ ...VOLUMES, columns }, alias)}, ${alias}.organization_id, ${alias}.version`;
}

export function readVolume(row: VolumeRow): Volume {
  return {
    ...readShownVolume(row),
    record: orUndefined(row.record),
    explanation: orUndefined(row.explanation),
    hashing: row.hashing === null ? undefined : readAdmission(row.hashing),
    balance: row.balance === null ? undefined : readBalance(row.balance),
  };
}

export function readShownVolume(row: ShownVolumeRow): ShownVolume {
  return {
    id: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    clusterId: row.cluster_id,
    name: row.name,
    spec: readSpec(row),
    grantedTags: orUndefined(row.granted_tags),
    labels: readLabels(row.labels),
    generation: row.generation,
    observedGeneration: row.observed_generation,
    lifecycle: readLifecycle(row),
    robustness: row.robustness,
    epoch: row.epoch,
    grantId: orUndefined(row.grant_id),
    restoredAt: orUndefined(row.restored_at),
    lastDegradedAt: orUndefined(row.last_degraded_at),
    attention: row.attention === null ? undefined : readAttention(row.attention),
    conditions: readConditions(row.conditions),
    writtenBytes: row.written_bytes,
    verification: row.verification === null ? undefined : readVerification(row.verification),
    chain: row.chain === null ? undefined : readChain(row.chain),
    task: readTask(row),
    recurringSnapshots: row.recurring_snapshots.map(readRecurring),
    integrityCheckedAt: orUndefined(row.integrity_checked_at),
    rebuildHold: orUndefined(row.rebuild_hold),
    createdAt: row.created_at,
    version: row.version,
  };
}

function readSpec(row: ShownVolumeRow): VolumeSpec {
  return {
    sizeBytes: row.size_bytes,
    numberOfReplicas: row.number_of_replicas,
    dataEngine: row.data_engine,
    nodeSelector: row.node_selector,
    diskSelector: row.disk_selector,
    topologyRequirement: row.topology_requirement.map(({ zone, region }) => ({ zone, region })),
    dataLocality: row.data_locality,
    ...readOverrides(row),
  };
}

function readAttention(stored: Stored<Attention>): Attention {
  return { ...stored, since: new Date(stored.since) };
}

function readVerification(stored: Stored<VolumeVerification>): VolumeVerification {
  return {
    ...stored,
    requestedAt: new Date(stored.requestedAt),
    finishedAt: stored.finishedAt === undefined ? undefined : new Date(stored.finishedAt),
    equal: stored.equal,
  };
}

function readChain(stored: Stored<VolumeChain>): VolumeChain {
  const { key, headParentId, headBytes, busy, keptIds, readAt } = stored;
  // JSON keeps strings as they are; their brands are lost in the stored type.
  return { key, headParentId, headBytes, busy, keptIds, readAt: new Date(readAt) } as VolumeChain;
}

function readAdmission({ admittedAt, isPass }: Stored<HashingAdmission>): HashingAdmission {
  return { admittedAt: new Date(admittedAt), isPass };
}

function readBalance({ moves, stoppedAt }: Stored<BalanceHistory>): BalanceHistory {
  // JSON keeps ids as they are, but not their brands.
  const places = moves as unknown as BalanceHistory['moves'];
  return {
    moves: places.map((move) => ({ ...move, at: new Date(move.at) })),
    stoppedAt: stoppedAt === undefined ? undefined : new Date(stoppedAt),
  };
}

function readRecurring({ nextRunAt, lastRun, ...rest }: Stored<RecurringSnapshot>): RecurringSnapshot {
  return {
    ...rest,
    nextRunAt: new Date(nextRunAt),
    lastRun:
      lastRun === undefined
        ? undefined
        : {
            ...lastRun,
            dueAt: new Date(lastRun.dueAt),
            at: new Date(lastRun.at),
            snapshotName: lastRun.snapshotName,
          },
  };
}

/** For sweeps of the version before, while both run; a volume's own due time has taken its place (ADR 0145). */
function earliestDue(recurring: readonly RecurringSnapshot[]): Date | null {
  const times = recurring.map(({ nextRunAt }) => nextRunAt.getTime());
  return times.length === 0 ? null : new Date(Math.min(...times));
}
