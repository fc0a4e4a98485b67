/** Rows of a cluster so large that reading all of a table would stand out in every plan. */
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { PlanJudge } from './statement-recorder.js';

type Owner = { query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }> };

const VOLUMES = 40_000;
const NODES = 1_000;
const LARGE = [
  'volume',
  'replica',
  'snapshot',
  'rebuild',
  'engine_observation',
  'event',
  'audit_entry',
] as const;

/**
 * Copies the one volume of a cluster, with all that belongs to it, until there are many, and gives them a long history.
 *
 * @param owner may read and write whatever belongs to an organization
 */
export async function fillCluster(owner: Owner, clusterId: ClusterId): Promise<void> {
  const id = (table: string) => `'id', md5('${table}' || t.id || g)::uuid`;
  const of = (table: string) => `'${table}_id', md5('${table}' || t.${table}_id || g)::uuid`;
  const onNode = (column: string) => `'${column}', md5('node' || t.${column} || g % ${NODES})::uuid`;
  const onDisk = `'disk_id', md5('disk' || t.disk_id || g % ${NODES})::uuid`;
  await copy(owner, 'node', NODES, `${id('node')}, 'name', t.name || g`);
  await copy(owner, 'disk', NODES, `${id('disk')}, ${onNode('node_id')}, 'name', t.name || g`);
  await copy(owner, 'volume', VOLUMES, `${id('volume')}, ${onNode('attached_node_id')}, 'name', t.name || g`);
  await copy(owner, 'replica', VOLUMES, `${id('replica')}, ${of('volume')}, ${onNode('node_id')}, ${onDisk}`);
  await copy(owner, 'snapshot', VOLUMES, `${id('snapshot')}, ${of('volume')}`);
  await copy(owner, 'engine_observation', VOLUMES, `${of('volume')}, ${onNode('node_id')}`);
  await copy(owner, 'rebuild', VOLUMES, `${id('rebuild')}, ${of('volume')}`);
  await owner.query(
    `INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id, message, at)
     SELECT organization_id, id, g, 'NodeReady', 'info', 'node', '', '', now() - g * interval '1 minute'
     FROM cluster, generate_series(1, $2::int) g WHERE id = $1`,
    [clusterId, 3 * VOLUMES],
  );
  await owner.query(
    `INSERT INTO audit_entry (organization_id, actor_kind, actor_id, action, target_kind, target_id, request_id, at)
     SELECT organization_id, 'user', '', 'volume.create', 'volume', '', '', now() - g * interval '1 minute'
     FROM cluster, generate_series(1, $2::int) g WHERE id = $1`,
    [clusterId, 3 * VOLUMES],
  );
  await owner.query('VACUUM ANALYZE');
}

/** Numbers from 0 on, so that what names the number of a node finds it. */
async function copy(owner: Owner, table: string, count: number, changed: string): Promise<void> {
  await owner.query(
    `INSERT INTO ${table} SELECT r.* FROM ${table} t, generate_series(0, ${count - 1}) g,
       LATERAL jsonb_populate_record(t, jsonb_build_object(${changed})) r`,
  );
}

export async function judgeOf(owner: Owner): Promise<PlanJudge> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indpred IS NOT NULL`,
  );
  return { large: new Set(LARGE), partial: new Set(rows.map(({ name }) => name)) };
}
