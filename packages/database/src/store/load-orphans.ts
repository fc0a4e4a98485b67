import type { FoundCopiesOf, OrphanInContext } from '@holdfast/control/ports/store.js';
import type { EventType } from '@holdfast/core/model/event-types.js';
import type { ClusterId, OrphanId } from '@holdfast/core/model/ids.js';
import type { Robustness } from '@holdfast/core/model/volume.js';
import { type OrphanRow, readOrphan } from '../rows/orphan-row.js';
import { READY } from '../rows/readiness-sql.js';
import type { Sql } from '../sql/scope.js';

const DELETED = 'VolumeDeleted' satisfies EventType;
const IS_REACHABLE = `(n.conditions @> ${READY} AND d.conditions @> ${READY})`;

export const ORPHAN_COLUMNS = `o.*, n.name AS node_name, d.name AS disk_name, ${IS_REACHABLE} AS is_reachable,
  v.name AS volume_name, v.robustness AS volume_robustness`;
export const ORPHAN_FROM = `orphan o JOIN node n ON n.id = o.node_id JOIN disk d ON d.id = o.disk_id
  LEFT JOIN volume v ON v.id = o.volume_id AND v.cluster_id = o.cluster_id`;

export type OrphanInContextRow = OrphanRow & {
  node_name: string;
  disk_name: string;
  is_reachable: boolean;
  volume_name: string | null;
  volume_robustness: Robustness | null;
};

/** See `Store.loadOrphans`. */
export async function loadOrphans(sql: Sql, clusterId: ClusterId, limit: number): Promise<OrphanInContext[]> {
  const { rows } = await sql.query<OrphanInContextRow>(
    `SELECT ${ORPHAN_COLUMNS} FROM ${ORPHAN_FROM}
     WHERE o.cluster_id = $1 AND ${IS_REACHABLE}
     ORDER BY coalesce(o.removal->>'by', '') <> 'person', o.announced_at IS NOT NULL,
       o.described_with_secret IS NOT NULL, o.first_seen_at, o.id
     LIMIT $2`,
    [clusterId, limit],
  );
  return rows.map(readOrphanInContext);
}

export async function loadOrphan(sql: Sql, orphanId: OrphanId): Promise<OrphanInContext | undefined> {
  const { rows } = await sql.query<OrphanInContextRow>(
    `SELECT ${ORPHAN_COLUMNS} FROM ${ORPHAN_FROM} WHERE o.id = $1`,
    [orphanId],
  );
  return rows.map(readOrphanInContext)[0];
}

/** See `Store.loadFoundCopies`. */
export async function loadFoundCopies(
  sql: Sql,
  clusterId: ClusterId,
  of: FoundCopiesOf,
): Promise<OrphanInContext[]> {
  const [named, after, limit] =
    'volumeId' in of ? [of.volumeId, null, 1] : [null, of.after ?? null, of.limit];
  const { rows } = await sql.query<OrphanInContextRow & { deleted_at: Date | null }>(
    `SELECT ${ORPHAN_COLUMNS},
       (SELECT max(e.at) FROM event e WHERE e.volume_id = o.volume_id AND e.type = '${DELETED}') AS deleted_at
     FROM ${ORPHAN_FROM}
     WHERE o.cluster_id = $1 AND o.announced_at IS NOT NULL AND o.volume_id IN (
       SELECT DISTINCT volume_id FROM orphan
       WHERE cluster_id = $1 AND announced_at IS NOT NULL AND ($2::uuid IS NULL OR volume_id = $2)
         AND ($3::uuid IS NULL OR volume_id > $3)
       ORDER BY volume_id LIMIT $4)
     ORDER BY o.volume_id, o.replica_id, o.id`,
    [clusterId, named, after, limit],
  );
  return rows.map((row) => ({ ...readOrphanInContext(row), deletedAt: row.deleted_at ?? undefined }));
}

export function readOrphanInContext(row: OrphanInContextRow): OrphanInContext {
  const { volume_name: name, volume_robustness: robustness } = row;
  return {
    orphan: readOrphan(row),
    nodeName: row.node_name,
    diskName: row.disk_name,
    isReachable: row.is_reachable,
    volume: name === null || robustness === null ? undefined : { name, robustness },
  };
}
