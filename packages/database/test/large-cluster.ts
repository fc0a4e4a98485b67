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
  'alert',
  'silence',
  'webhook_delivery',
] as const;

/**
 * Copies the one volume of a cluster, with all that belongs to it, until there are many, and gives them a long history.
 *
 * @param owner may read and write whatever belongs to an organization, and is a superuser of its server
 */
export async function fillCluster(owner: Owner, clusterId: ClusterId): Promise<void> {
  // Without triggers: with statistics of the few rows of before, which autovacuum may have taken at any time, Postgres plans the
  // trigger of a snapshot to read all of them for each of them, which takes minutes. What triggers keep, the copied rows have.
  await owner.query('SET session_replication_role = replica');
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
  await owner.query('RESET session_replication_role');
  await owner.query('VACUUM ANALYZE');
}

/** Alerts that are over, silences that have ended, and what was delivered to a webhook. */
export async function makeHistory(owner: Owner, clusterId: ClusterId): Promise<void> {
  const rows = async (text: string) => owner.query(text, [clusterId, VOLUMES]);
  const from = `FROM cluster c, generate_series(1, $2::int) g WHERE c.id = $1`;
  await rows(
    `INSERT INTO alert (id, organization_id, cluster_id, rule, severity, subject_kind, subject_id, subject_name, message,
       effects, since, changed_at, resolved_at)
     SELECT gen_random_uuid(), c.organization_id, c.id, 'NodeSilent', 'error', 'node', '', '', '', '{}',
       now() - g * interval '1 minute', now(), now() - g * interval '1 minute' ${from}`,
  );
  await rows(
    `INSERT INTO silence (id, organization_id, cluster_id, matcher, comment, starts_at, ends_at, author, created_at)
     SELECT gen_random_uuid(), c.organization_id, c.id, 'rule=NodeSilent', '', now() - g * interval '1 hour',
       now() - g * interval '1 minute', '', now() ${from}`,
  );
  await rows(
    `WITH made AS (
       INSERT INTO webhook (id, organization_id, name, url, filter, transaction_id, event_id, created_at)
       SELECT gen_random_uuid(), organization_id, 'past', 'https://example.test/', '', 0, 0, now() FROM cluster WHERE id = $1
       RETURNING id, organization_id)
     INSERT INTO webhook_delivery (id, organization_id, webhook_id, cluster_id, transaction_id, event_id, type, body, state,
       next_attempt_at, created_at)
     SELECT gen_random_uuid(), made.organization_id, made.id, $1, g, g, 'NodeReady', '', 'delivered', now(), now()
     FROM made, generate_series(1, $2::int) g`,
  );
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
