import { Bug, StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { FleetChanges, WholeFleet } from '@holdfast/core/scheduling/index/fleet-cache.js';
import { effectiveSettings } from '@holdfast/core/settings/effective.js';
import { DISKS, type DiskRow, readJsonDisk } from '../rows/disk-row.js';
import type { JsonRow } from '../rows/json.js';
import { NODES, type NodeRow, readJsonNode } from '../rows/node-row.js';
import type { Sql } from '../sql/scope.js';
import type { Table } from '../sql/table.js';

/** Position from which changes are read. */
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
  nodes: JsonRow<NodeRow>[] | null;
  disks: JsonRow<DiskRow>[] | null;
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
 * Reads the changes of a cluster since `since`, in one statement.
 *
 * Postgres marks each version of a row with the transaction that wrote it (`xmin`), of any writer. A row that was not visible at the
 * last read was written by a transaction that still ran then or began later. Reading from the oldest of those on may return a row
 * twice, and never misses one (ADR 0070). Deleted rows are noticed by their number.
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
      nodes: (row.nodes ?? []).map(readJsonNode),
      disks: (row.disks ?? []).map(readJsonDisk),
      nodeCount: row.node_count,
      diskCount: row.disk_count,
    },
    horizon: { transactionId: row.transaction_id, settingsVersion: row.settings_version },
  };
}

/** Columns that the store's other readers use, too: a node's control secret is not read. */
function fieldsOf<Entity>({ columns }: Table<Entity>, alias: string): string {
  return [...columns.map(({ name }) => name), 'version']
    .map((name) => `'${name}', ${alias}.${name}`)
    .join(', ');
}

/**
 * Ages count back from now on the ring of transaction numbers, so that the comparison survives their wrap-around. A horizon in the
 * future belongs to another server, such as a restored one: then everything is new.
 */
const IS_AHEAD = '$2::text::xid8 > pg_snapshot_xmax(pg_current_snapshot())';
const isNew = (alias: string) => `($2::text IS NULL
  OR ${IS_AHEAD}
  OR age(${alias}.xmin) <= age($2::text::xid8::xid))`;

const CHANGES = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS transaction_id, c.settings_version,
    CASE WHEN c.settings_version = $3::int AND NOT ${IS_AHEAD} THEN NULL ELSE
      coalesce((SELECT jsonb_object_agg(s.name, s.value) FROM setting s WHERE s.cluster_id = c.id), '{}')
    END AS overrides,
    nodes.total::int AS node_count, nodes.changed AS nodes, disks.total::int AS disk_count, disks.changed AS disks
  FROM cluster c,
    LATERAL (SELECT count(*) AS total,
      json_agg(json_build_object(${fieldsOf(NODES, 'n')})) FILTER (WHERE ${isNew('n')}) AS changed
      FROM node n WHERE n.cluster_id = c.id) nodes,
    LATERAL (SELECT count(*) AS total,
      json_agg(json_build_object(${fieldsOf(DISKS, 'd')})) FILTER (WHERE ${isNew('d')}) AS changed
      FROM disk d WHERE d.cluster_id = c.id) disks
  WHERE c.id = $1`;
