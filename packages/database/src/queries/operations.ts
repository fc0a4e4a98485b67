/** Operations, read from the view over the rows that do the work. */
import type { ClusterId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import {
  isOperationKind,
  type Operation,
  type OperationState,
  type OperationTarget,
  type ProgressUnit,
  targetOfOperation,
} from '@holdfast/core/policy/operation.js';
import type { Sql } from '../sql/scope.js';
import { type ListRequest, listRows, mapPage, type Page } from './list-rows.js';

type OperationRow = {
  id: string;
  cluster_id: ClusterId;
  kind: string;
  target_kind: OperationTarget;
  target_id: string;
  volume_id: VolumeId | null;
  node_id: NodeId | null;
  state: OperationState;
  phase: string;
  progress_done: number | null;
  progress_total: number | null;
  progress_unit: ProgressUnit | null;
  message: string;
  requested_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
};

/** Stands for none where a list is sorted: a row of a sorted list has a value. */
const NONE = `'00000000-0000-0000-0000-000000000000'`;

const FIELDS = {
  id: { sql: 'o.id', type: 'text' },
  clusterId: { sql: 'o.cluster_id', type: 'id' },
  projectId: { sql: `coalesce(o.project_id, ${NONE})`, type: 'id' },
  kind: { sql: 'o.kind', type: 'text' },
  targetKind: { sql: 'o.target_kind', type: 'text' },
  targetId: { sql: 'o.target_id', type: 'id' },
  volumeId: { sql: `coalesce(o.volume_id, ${NONE})`, type: 'id' },
  nodeId: { sql: `coalesce(o.node_id, ${NONE})`, type: 'id' },
  state: { sql: 'o.state', type: 'text' },
  requestedAt: { sql: 'o.requested_at', type: 'time' },
} as const;

/** @param clusterId left out: of all clusters that the tenant sees */
export async function listOperations(
  sql: Sql,
  clusterId: ClusterId | undefined,
  request: ListRequest,
): Promise<Page<Operation>> {
  const page = await listRows<OperationRow>(
    sql,
    {
      columns: 'o.*',
      from: 'operation o',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: '-requestedAt',
      where:
        clusterId === undefined
          ? { text: 'true', values: [] }
          : { text: 'o.cluster_id = $1', values: [clusterId] },
    },
    request,
  );
  return mapPage(page, readOperation);
}

/** @param clusterId left out: in whichever cluster it is */
export async function findOperation(
  sql: Sql,
  key: { clusterId?: ClusterId | undefined; operationId: string },
): Promise<Operation | undefined> {
  const targetId = targetOfOperation(key.operationId);
  if (targetId === undefined) return undefined;
  const { rows } = await sql.query<OperationRow>(
    `SELECT o.* FROM operation o WHERE o.target_id = $1 AND o.id = $2 AND ($3::uuid IS NULL OR o.cluster_id = $3)
     ORDER BY o.finished_at DESC NULLS FIRST LIMIT 1`,
    [targetId, key.operationId, key.clusterId ?? null],
  );
  return rows.map(readOperation)[0];
}

function readOperation(row: OperationRow): Operation {
  // The view makes these kinds and no other.
  const kind = isOperationKind(row.kind) ? row.kind : 'rebuild';
  const { progress_done: done, progress_total: total, progress_unit: unit } = row;
  const hasProgress = unit !== null && (done !== null || total !== null);
  return {
    id: row.id,
    clusterId: row.cluster_id,
    kind,
    target: { kind: row.target_kind, id: row.target_id },
    volumeId: row.volume_id ?? undefined,
    nodeId: row.node_id ?? undefined,
    state: row.state,
    phase: row.phase,
    progress: hasProgress ? { done: done ?? undefined, total: total ?? undefined, unit } : undefined,
    message: row.message,
    requestedAt: row.requested_at,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
  };
}
