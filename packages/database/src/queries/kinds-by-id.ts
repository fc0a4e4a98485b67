/** Kind of the object with an id: ids are unique over all kinds of objects, so that one alone finds its object. */
import type { Sql } from '../sql/scope.js';

const OF_VOLUME = '(SELECT v.cluster_id FROM volume v WHERE v.id = t.volume_id)';

/** Tables of objects with ids, with the columns that an address needs beside the id. */
const TABLES = {
  organization: {},
  project: {},
  token: {},
  invitation: {},
  webhook: {},
  cluster: {},
  node: { clusterId: 't.cluster_id' },
  disk: { clusterId: 't.cluster_id', nodeId: 't.node_id' },
  volume: { clusterId: 't.cluster_id' },
  replica: { clusterId: OF_VOLUME, volumeId: 't.volume_id' },
  snapshot: { clusterId: OF_VOLUME, volumeId: 't.volume_id' },
  rebuild: { clusterId: 't.cluster_id' },
  orphan: { clusterId: 't.cluster_id' },
  cluster_grant: { clusterId: 't.cluster_id' },
  alert: { clusterId: 't.cluster_id' },
  silence: { clusterId: 't.cluster_id' },
} as const satisfies Record<string, { clusterId?: string; nodeId?: string; volumeId?: string }>;

export type KindOfId = keyof typeof TABLES;

/** An object as its address names it; null: its address has no such part. */
export type AddressOfId = {
  readonly id: string;
  readonly kind: KindOfId;
  readonly clusterId: string | null;
  readonly nodeId: string | null;
  readonly volumeId: string | null;
};

const SEARCH = Object.entries(TABLES)
  .map(([table, parts]: [string, { clusterId?: string; nodeId?: string; volumeId?: string }]) => {
    const { clusterId, nodeId, volumeId } = parts;
    const columns = Object.entries({ clusterId, nodeId, volumeId }).map(
      ([name, sql]) => `${sql ?? 'NULL::uuid'} AS "${name}"`,
    );
    return `SELECT t.id, '${table}' AS kind, ${columns.join(', ')} FROM ${table} t WHERE t.id = ANY($1::uuid[])`;
  })
  .join(' UNION ALL ');

/** The objects with these ids that the tenant sees, by one look into the key of each table. */
export async function findKinds(sql: Sql, ids: readonly string[]): Promise<AddressOfId[]> {
  const { rows } = await sql.query<AddressOfId>(SEARCH, [ids]);
  return rows;
}
