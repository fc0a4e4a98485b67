import { Bug, StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { FleetChanges, WholeFleet } from '@holdfast/core/scheduling/index/fleet-cache.js';
import { effectiveSettings } from '@holdfast/core/settings/effective.js';
import { type DiskRow, readDisk } from '../rows/disk-row.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import type { Sql } from '../sql/scope.js';

/** From where on changes are asked for. */
export type FleetHorizon = {
  /** The oldest transaction that was still running at the last look: everything before it has been seen. */
  readonly transactionId: string;
  readonly settingsVersion: number;
};

type Row = {
  transaction_id: string;
  settings_version: number;
  overrides: Record<string, unknown> | null;
  node_count: number;
  disk_count: number;
  nodes: (Omit<NodeRow, 'last_heartbeat_at'> & { last_heartbeat_at: string | null })[] | null;
  disks: DiskRow[] | null;
};

/** @throws StorageFault `cluster.not_found` */
export async function readWholeFleet(
  sql: Sql,
  clusterId: ClusterId,
): Promise<{ whole: WholeFleet; horizon: FleetHorizon }> {
  const { changes, horizon } = await read(sql, clusterId, undefined);
  const { settings } = changes;
  if (settings === undefined) throw new Bug('a whole fleet was read without its settings');
  return { whole: { ...changes, settings }, horizon };
}

/**
 * Reads what has changed in a cluster since `since`, in one statement.
 *
 * Postgres marks each version of a row with the transaction that wrote it (`xmin`), of any writer. A row that was
 * not visible at the last look was written by a transaction that still ran then or began later. Asking from the oldest
 * of those on may show a row twice, and never misses one (ADR 0070). Rows that are gone are noticed by their number.
 *
 * @throws StorageFault `cluster.not_found`
 */
export function readFleetChanges(
  sql: Sql,
  clusterId: ClusterId,
  since: FleetHorizon,
): Promise<{ changes: FleetChanges; horizon: FleetHorizon }> {
  return read(sql, clusterId, since);
}

async function read(
  sql: Sql,
  clusterId: ClusterId,
  since: FleetHorizon | undefined,
): Promise<{ changes: FleetChanges; horizon: FleetHorizon }> {
  const { rows } = await sql.query<Row>(CHANGES, [
    clusterId,
    since?.transactionId ?? null,
    since?.settingsVersion ?? null,
  ]);
  const row = rows[0];
  if (row === undefined) {
    throw new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
  }
  return {
    changes: {
      settingsVersion: row.settings_version,
      settings: row.overrides === null ? undefined : effectiveSettings(row.overrides),
      nodes: (row.nodes ?? []).map((node) =>
        readNode({ ...node, last_heartbeat_at: dateOrNull(node.last_heartbeat_at) }),
      ),
      disks: (row.disks ?? []).map(readDisk),
      nodeCount: row.node_count,
      diskCount: row.disk_count,
    },
    horizon: { transactionId: row.transaction_id, settingsVersion: row.settings_version },
  };
}

/** Only what decisions read: a node's control secret stays where it is. */
const NODE_FIELDS = `'id', n.id, 'cluster_id', n.cluster_id, 'name', n.name, 'zone', n.zone, 'region', n.region,
  'tags', n.tags, 'allow_scheduling', n.allow_scheduling, 'cordoned', n.cordoned,
  'eviction_requested', n.eviction_requested, 'maintenance', n.maintenance, 'drain', n.drain,
  'drain_status', n.drain_status, 'conditions', n.conditions, 'control_url', n.control_url,
  'nbd_host', n.nbd_host, 'nbd_port', n.nbd_port, 'boot_id', n.boot_id,
  'last_heartbeat_at', n.last_heartbeat_at, 'version', n.version`;

const DISK_FIELDS = `'id', d.id, 'node_id', d.node_id, 'name', d.name, 'path', d.path, 'type', d.type,
  'file_system', d.file_system, 'tags', d.tags, 'allow_scheduling', d.allow_scheduling,
  'eviction_requested', d.eviction_requested, 'storage_reserved_bytes', d.storage_reserved_bytes,
  'storage_maximum_bytes', d.storage_maximum_bytes, 'storage_available_bytes', d.storage_available_bytes,
  'storage_scheduled_bytes', d.storage_scheduled_bytes, 'written_bytes', d.written_bytes,
  'conditions', d.conditions, 'version', d.version`;

/**
 * Ages count back from now on the ring of transaction numbers, so that the comparison survives their wrap-around. A
 * horizon that lies ahead is another server's, one that was restored: there everything is new.
 */
const isNew = (alias: string) => `($2::text IS NULL
  OR $2::text::xid8 > pg_snapshot_xmax(pg_current_snapshot())
  OR age(${alias}.xmin) <= age($2::text::xid8::xid))`;

const CHANGES = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS transaction_id, c.settings_version,
    CASE WHEN c.settings_version = $3::int THEN NULL ELSE
      coalesce((SELECT jsonb_object_agg(s.name, s.value) FROM setting s WHERE s.cluster_id = c.id), '{}')
    END AS overrides,
    nodes.total::int AS node_count, nodes.changed AS nodes, disks.total::int AS disk_count, disks.changed AS disks
  FROM cluster c,
    LATERAL (SELECT count(*) AS total,
      json_agg(json_build_object(${NODE_FIELDS})) FILTER (WHERE ${isNew('n')}) AS changed
      FROM node n WHERE n.cluster_id = c.id) nodes,
    LATERAL (SELECT count(*) AS total,
      json_agg(json_build_object(${DISK_FIELDS})) FILTER (WHERE ${isNew('d')}) AS changed
      FROM disk d WHERE d.cluster_id = c.id) disks
  WHERE c.id = $1`;

function dateOrNull(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
