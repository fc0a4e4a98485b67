import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import { Bug } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId, OrganizationId, ProjectId, VolumeId } from '@holdfast/core/model/ids.js';
import type { LayerTask, VolumeChain } from '@holdfast/core/model/layer-task.js';
import type { RecurringSnapshot } from '@holdfast/core/model/recurring-snapshot.js';
import type { CopiesSurvey, SalvageRequest } from '@holdfast/core/model/salvage.js';
import type { StoredExplanation } from '@holdfast/core/model/stored-explanation.js';
import type {
  Attention,
  HashingAdmission,
  Volume,
  VolumeConditionType,
  VolumeSpec,
  VolumeVerification,
} from '@holdfast/core/model/volume.js';
import type { VolumeFill } from '@holdfast/core/model/volume-fill.js';
import {
  type AttachmentRequest,
  type EngineGrant,
  endpointOf,
  grantOf,
  holderOf,
  isDetachForced,
  requestOf,
  type VolumeEndpoint,
  type VolumeLifecycle,
  type VolumeState,
} from '@holdfast/core/model/volume-lifecycle.js';
import { asJson, type Column, columnsOf, type Table } from '../sql/table.js';
import { orUndefined, readConditions, type Stored, type StoredCondition } from './json.js';
import { OVERRIDE_COLUMNS, type OverrideRow, readOverrides } from './override-columns.js';
import { readTrouble } from './snapshot-row.js';

const column = columnsOf<Volume>();

/** A column that holds one part of the spec; the spec is always replaced as a whole. */
function specColumn(part: keyof VolumeSpec, name: string): Column<Volume> {
  return column('spec', name, (spec) => spec[part]);
}

/** A column that holds one part of the lifecycle; it too is always replaced as a whole. */
function lifecycleColumn(name: string, part: (volume: Pick<Volume, 'lifecycle'>) => unknown): Column<Volume> {
  return column('lifecycle', name, (lifecycle) => part({ lifecycle }) ?? null);
}

function deletionTime({ lifecycle }: Pick<Volume, 'lifecycle'>): Date | undefined {
  return lifecycle.state === 'deleting' ? lifecycle.requestedAt : undefined;
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
    specColumn('dataLocality', 'data_locality'),
    ...OVERRIDE_COLUMNS,
    column('generation', 'generation'),
    column('observedGeneration', 'observed_generation'),
    column('lifecycle', 'state', ({ state }) => state),
    column('robustness', 'robustness'),
    lifecycleColumn('attachment', (volume) => asJson(requestOf(volume))),
    lifecycleColumn('detach_forced', isDetachForced),
    lifecycleColumn('attached_node_id', holderOf),
    column('epoch', 'epoch'),
    column('grantId', 'grant_id'),
    lifecycleColumn('engine_boot_id', (volume) => grantOf(volume)?.bootId),
    lifecycleColumn('endpoint', (volume) => asJson(endpointOf(volume))),
    lifecycleColumn('attachment_secret', (volume) => grantOf(volume)?.secret),
    column('record', 'record', asJson),
    column('lastDegradedAt', 'last_degraded_at'),
    column('attention', 'attention', asJson),
    column('conditions', 'conditions', asJson),
    column('explanation', 'explanation', asJson),
    column('writtenBytes', 'written_bytes'),
    column('verification', 'verification', asJson),
    column('chain', 'chain', asJson),
    column('fill', 'fill', asJson),
    column('layerTask', 'layer_task', asJson),
    column('recurringSnapshots', 'recurring_snapshots', asJson),
    column('recurringSnapshots', 'recurring_due_at', earliestDue),
    column('integrityCheckedAt', 'integrity_checked_at'),
    column('hashing', 'hashing', asJson),
    column('taskAdmittedAt', 'turn_at'),
    column('rebuildHold', 'rebuild_hold'),
    column('survey', 'survey', asJson),
    column('salvage', 'salvage', asJson),
    lifecycleColumn('deletion_requested_at', deletionTime),
    column('createdAt', 'created_at'),
  ],
};

/** As Postgres returns it: the CHECK constraints and our own inserts vouch for these types. */
export type VolumeRow = OverrideRow & {
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
  data_locality: VolumeSpec['dataLocality'];
  generation: number;
  observed_generation: number;
  state: VolumeState;
  robustness: Volume['robustness'];
  attachment: Stored<AttachmentRequest> | null;
  detach_forced: boolean;
  attached_node_id: NodeId | null;
  epoch: number;
  grant_id: string | null;
  engine_boot_id: string | null;
  endpoint: VolumeEndpoint | null;
  attachment_secret: string | null;
  record: CopyRecord | null;
  last_degraded_at: Date | null;
  attention: Stored<Attention> | null;
  conditions: StoredCondition<VolumeConditionType>[];
  explanation: StoredExplanation | null;
  written_bytes: number;
  verification: Stored<VolumeVerification> | null;
  chain: Stored<VolumeChain> | null;
  fill: Stored<VolumeFill> | null;
  layer_task: Stored<LayerTask> | null;
  recurring_snapshots: readonly Stored<RecurringSnapshot>[];
  integrity_checked_at: Date | null;
  hashing: Stored<HashingAdmission> | null;
  turn_at: Date | null;
  rebuild_hold: Volume['rebuildHold'] | null;
  survey: Stored<CopiesSurvey> | null;
  salvage: Stored<SalvageRequest> | null;
  deletion_requested_at: Date | null;
  created_at: Date;
  version: number;
  reconcile_due_at: Date | null;
  reconcile_marks: number;
};

export function readVolume(row: VolumeRow): Volume {
  return {
    id: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    clusterId: row.cluster_id,
    name: row.name,
    spec: readSpec(row),
    generation: row.generation,
    observedGeneration: row.observed_generation,
    lifecycle: readLifecycle(row),
    robustness: row.robustness,
    epoch: row.epoch,
    grantId: orUndefined(row.grant_id),
    record: orUndefined(row.record),
    lastDegradedAt: orUndefined(row.last_degraded_at),
    attention: row.attention === null ? undefined : readAttention(row.attention),
    conditions: readConditions(row.conditions),
    explanation: orUndefined(row.explanation),
    writtenBytes: row.written_bytes,
    verification: row.verification === null ? undefined : readVerification(row.verification),
    chain: row.chain === null ? undefined : readChain(row.chain),
    fill: row.fill === null ? undefined : readFill(row.fill),
    layerTask: row.layer_task === null ? undefined : readTask(row.layer_task),
    recurringSnapshots: row.recurring_snapshots.map(readRecurring),
    integrityCheckedAt: orUndefined(row.integrity_checked_at),
    hashing: row.hashing === null ? undefined : readAdmission(row.hashing),
    taskAdmittedAt: orUndefined(row.turn_at),
    rebuildHold: orUndefined(row.rebuild_hold),
    survey: row.survey === null ? undefined : readSurvey(row.survey),
    salvage: row.salvage === null ? undefined : readSalvage(row.salvage),
    createdAt: row.created_at,
    version: row.version,
  };
}

function readSpec(row: VolumeRow): VolumeSpec {
  return {
    sizeBytes: row.size_bytes,
    numberOfReplicas: row.number_of_replicas,
    dataEngine: row.data_engine,
    nodeSelector: row.node_selector,
    diskSelector: row.disk_selector,
    dataLocality: row.data_locality,
    ...readOverrides(row),
  };
}

/** The columns of a lifecycle, to one value: a CHECK of the table forbids what no state can mean. */
function readLifecycle(row: VolumeRow): VolumeLifecycle {
  const { state, endpoint, deletion_requested_at: deletedAt, detach_forced: isForced } = row;
  const request = row.attachment === null ? undefined : readAttachment(row.attachment);
  const grant = readGrant(row);
  switch (state) {
    case 'creating':
      return { state, request };
    case 'detached':
      return { state };
    case 'attaching':
      return { state, request: required(row, request), grant };
    case 'attached':
      return {
        state,
        request: required(row, request),
        grant: required(row, grant),
        endpoint: required(row, endpoint),
      };
    case 'detaching':
      return { state, grant: required(row, grant), isForced, request };
    case 'deleting':
      return { state, requestedAt: required(row, deletedAt), grant };
  }
}

function readGrant(row: VolumeRow): EngineGrant | undefined {
  const { attached_node_id: nodeId, engine_boot_id, attachment_secret } = row;
  if (nodeId === null) return undefined;
  return { nodeId, bootId: orUndefined(engine_boot_id), secret: attachment_secret ?? '' };
}

function required<Part>({ id, state }: VolumeRow, part: Part | null | undefined): Part {
  if (part === null || part === undefined)
    throw new Bug(`volume ${id} lacks what a volume has that is ${state}`);
  return part;
}

function readAttachment(stored: Stored<AttachmentRequest>): AttachmentRequest {
  // JSON leaves out what is undefined, so a request for any node comes back without the key.
  const { nodeId, requestedAt, purpose } = stored;
  return { nodeId, requestedAt: new Date(requestedAt), ...(purpose === undefined ? {} : { purpose }) };
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
  // JSON keeps strings as they are; their brands are lost on the way through the type of what is stored.
  return { key, headParentId, headBytes, busy, keptIds, readAt: new Date(readAt) } as VolumeChain;
}

function readTask(stored: Stored<LayerTask>): LayerTask {
  const { requestedAt, startedEpoch, trouble, ...rest } = stored;
  // As above; the kind and what belongs to it are stored together.
  const task = rest as unknown as LayerTask;
  return { ...task, requestedAt: new Date(requestedAt), startedEpoch, trouble: readTrouble(trouble) };
}

function readAdmission({ admittedAt, isPass }: Stored<HashingAdmission>): HashingAdmission {
  return { admittedAt: new Date(admittedAt), isPass };
}

function readSurvey({ takenAt, copies }: Stored<CopiesSurvey>): CopiesSurvey {
  // As above: the brands of the ids. JSON leaves out a record that is undefined.
  const read = copies as unknown as CopiesSurvey['copies'];
  return { takenAt: new Date(takenAt), copies: read.map((copy) => ({ ...copy, record: copy.record })) };
}

function readSalvage({ replicaIds, requestedAt }: Stored<SalvageRequest>): SalvageRequest {
  return { replicaIds: replicaIds as SalvageRequest['replicaIds'], requestedAt: new Date(requestedAt) };
}

function readFill({ requestedAt, startedEpoch, trouble, ...ids }: Stored<VolumeFill>): VolumeFill {
  // As above: the brands of the ids.
  return {
    ...(ids as Pick<VolumeFill, 'sourceVolumeId' | 'snapshotId'>),
    startedEpoch,
    trouble: readTrouble(trouble),
    requestedAt: new Date(requestedAt),
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
