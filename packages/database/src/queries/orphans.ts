import type { OrphanInContext } from '@holdfast/control/ports/store.js';
import type { ClusterId, DiskId, OrphanId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import {
  ORPHAN_COLUMNS,
  ORPHAN_FROM,
  type OrphanInContextRow,
  readOrphanInContext,
} from '../store/load-orphans.js';
import { type ListRequest, listRows, mapPage, type Page } from './list-rows.js';

const FIELDS = {
  id: { sql: 'o.id', type: 'id' },
  nodeId: { sql: 'o.node_id', type: 'id' },
  diskId: { sql: 'o.disk_id', type: 'id' },
  replicaId: { sql: 'o.replica_id', type: 'id' },
  volumeId: { sql: 'o.volume_id', type: 'id' },
  size: { sql: 'o.written_bytes', type: 'number' },
  firstSeenAt: { sql: 'o.first_seen_at', type: 'time' },
} as const;

/** Announced orphans only: a fresh one may be a copy whose deletion has not been reported yet. */
export async function listOrphans(
  sql: Sql,
  clusterId: ClusterId,
  request: ListRequest,
): Promise<Page<OrphanInContext>> {
  const page = await listRows<OrphanInContextRow>(
    sql,
    {
      columns: ORPHAN_COLUMNS,
      from: ORPHAN_FROM,
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: 'firstSeenAt',
      where: { text: 'o.cluster_id = $1 AND o.announced_at IS NOT NULL', values: [clusterId] },
    },
    request,
  );
  return mapPage(page, readOrphanInContext);
}

export async function findOrphan(
  sql: Sql,
  key: { clusterId: ClusterId; orphanId: OrphanId },
): Promise<OrphanInContext | undefined> {
  const { rows } = await sql.query<OrphanInContextRow>(
    `SELECT ${ORPHAN_COLUMNS} FROM ${ORPHAN_FROM}
     WHERE o.id = $1 AND o.cluster_id = $2 AND o.announced_at IS NOT NULL`,
    [key.orphanId, key.clusterId],
  );
  return rows.map(readOrphanInContext)[0];
}

export async function countOrphansOn(sql: Sql, diskId: DiskId): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM orphan WHERE disk_id = $1',
    [diskId],
  );
  return rows[0]?.count ?? 0;
}
