/**
 * Figures of all clusters for their operators. Bounded: only so many nodes, disks and rebuilds are listed one by one, the most urgent
 * first.
 */
import { READY } from '../rows/readiness-sql.js';
import { queryUnscoped, type Scope, snapshot } from '../sql/scope.js';

/** More series than this are of no use in a graph, and each costs the database of metrics memory for weeks. */
const NODES_MAX = 1_000;
const DISKS_MAX = 2_000;
const REBUILDS_MAX = 200;

export type ClusterFigures = {
  readonly clusters: readonly { cluster: string; name: string; organization: string }[];
  readonly notWhole: readonly {
    cluster: string;
    robustness: string;
    volumes: number;
    missing: number;
    /** Volumes that want several full copies and have one. */
    on_last_copy: number;
  }[];
  readonly nodes: readonly { cluster: string; node: string; ready: boolean; silent_seconds: number | null }[];
  readonly disks: readonly {
    cluster: string;
    node: string;
    disk: string;
    capacity: number;
    available: number;
    reserved: number;
    scheduled: number;
  }[];
  readonly waiting: readonly { cluster: string; priority: string; rebuilds: number }[];
  readonly running: readonly { cluster: string; rebuild: string; bytes: Record<string, number> }[];
  readonly outboxLagSeconds: number;
  readonly unsealedEntries: number;
};

export type VolumeTotals = readonly {
  cluster: string;
  state: string;
  volumes: number;
  capacity: number;
  written: number;
}[];

/** Each statement reads one row for a cluster, a node or a disk, or uses an index of few volumes. */
export function readClusterFigures(system: Scope): Promise<ClusterFigures> {
  return snapshot(system, async (sql) => {
    const list = async <Name extends ListName>(name: Name) =>
      (await sql.query<ClusterFigures[Name][number]>(STATEMENTS[name])).rows;
    const [lag] = (await sql.query<{ seconds: number | null }>(OUTBOX_LAG)).rows;
    const [unsealed] = (await sql.query<{ entries: number }>(UNSEALED)).rows;
    return {
      clusters: await list('clusters'),
      notWhole: await list('notWhole'),
      nodes: await list('nodes'),
      disks: await list('disks'),
      waiting: await list('waiting'),
      running: await list('running'),
      outboxLagSeconds: lag?.seconds ?? 0,
      unsealedEntries: unsealed?.entries ?? 0,
    };
  });
}

/** How long the oldest wake-up has waited for a relay. */
export async function readOutboxLagSeconds({ pool }: Scope): Promise<number> {
  const [lag] = await queryUnscoped<{ seconds: number | null }>(pool, OUTBOX_LAG, []);
  return lag?.seconds ?? 0;
}

/** Reads all volumes, which takes some 50 ms for 100,000: for a graph, once a minute. */
export function readVolumeTotals(system: Scope): Promise<VolumeTotals> {
  return snapshot(system, async (sql) => {
    const { rows } = await sql.query<VolumeTotals[number]>(
      `SELECT cluster_id AS cluster, state, count(*)::int AS volumes, sum(size_bytes)::float8 AS capacity,
         sum(written_bytes)::float8 AS written
       FROM volume GROUP BY cluster_id, state`,
    );
    return rows;
  });
}

const STATEMENTS = {
  clusters: 'SELECT id AS cluster, name, organization_id AS organization FROM cluster ORDER BY id',
  notWhole: `
    SELECT w.cluster_id AS cluster, w.robustness, count(*)::int AS volumes,
      sum(greatest(w.number_of_replicas - w.full_copies, 0))::int AS missing,
      (count(*) FILTER (WHERE w.full_copies = 1 AND w.number_of_replicas > 1))::int AS on_last_copy
    FROM (
      SELECT v.cluster_id, v.robustness, v.number_of_replicas,
        (SELECT count(*) FROM replica r
         WHERE r.volume_id = v.id AND r.healthy_at IS NOT NULL AND r.failed_at IS NULL)::int AS full_copies
      FROM volume v WHERE v.robustness IN ('degraded', 'faulted')
    ) w GROUP BY w.cluster_id, w.robustness`,
  nodes: `
    SELECT cluster_id AS cluster, name AS node, conditions @> ${READY} AS ready,
      extract(epoch FROM now() - last_heartbeat_at)::float8 AS silent_seconds
    FROM node ORDER BY last_heartbeat_at NULLS FIRST, id LIMIT ${NODES_MAX}`,
  disks: `
    SELECT d.cluster_id AS cluster, n.name AS node, d.name AS disk, d.storage_maximum_bytes AS capacity,
      d.storage_available_bytes AS available, d.storage_reserved_bytes AS reserved,
      d.storage_scheduled_bytes AS scheduled
    FROM disk d JOIN node n ON n.id = d.node_id
    ORDER BY d.storage_available_bytes::float8 / greatest(d.storage_maximum_bytes, 1), d.id LIMIT ${DISKS_MAX}`,
  waiting: `
    SELECT cluster_id AS cluster, count(*)::int AS rebuilds,
      CASE WHEN relocates THEN 'relocation' WHEN healthy_copies <= 1 THEN 'last_copy' ELSE 'missing_copy' END AS priority
    FROM rebuild WHERE state = 'queued' GROUP BY 1, 3`,
  running: `
    SELECT cluster_id AS cluster, id AS rebuild, bytes FROM rebuild
    WHERE state = 'running' ORDER BY queued_at, id LIMIT ${REBUILDS_MAX}`,
} as const;
type ListName = keyof typeof STATEMENTS;

const OUTBOX_LAG = 'SELECT extract(epoch FROM now() - min(created_at))::float8 AS seconds FROM outbox';
const UNSEALED = 'SELECT count(*)::int AS entries FROM audit_unsealed';
