/** The zones of a cluster, each with its nodes, disks and replicas counted: the data of a map of a thousand nodes. */
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { NODE_SILENT } from '../rows/readiness-sql.js';
import type { Sql } from '../sql/scope.js';
import { bytesSum } from '../sql/sums.js';
import { type ListRequest, listItems, type Page } from './list-rows.js';
import { NODE_STANDING, type NodeStanding, type NodeWithStorage } from './nodes.js';

export type ZoneSummary = {
  readonly zone: string | undefined;
  readonly region: string | undefined;
  /** Each node counts once. */
  readonly nodes: Readonly<Record<NodeStanding | 'total', number>>;
  readonly disks: number;
  readonly storage: NodeWithStorage['storage'];
  /** Of volumes that the caller may see. Those on nodes that do not answer count as silent, whatever was last known of them. */
  readonly replicas: Readonly<Record<'total' | 'silent' | 'failed' | 'rebuilding', number>>;
};

/** The unnamed zone has the nodes without a label; it comes first. */
const FIELDS = {
  key: { sql: 'z.key', type: 'text' },
  zone: { sql: 'z.zone', type: 'text' },
  region: { sql: 'z.region', type: 'text' },
} as const;

const STANDINGS = [
  'notReady',
  'unanswering',
  'draining',
  'drained',
  'cordoned',
  'inMaintenance',
  'closed',
  'open',
] as const satisfies readonly NodeStanding[];

const STORAGE = ['maximum', 'available', 'reserved', 'scheduled', 'written'] as const;

function countWhere(column: string, condition: string): string {
  return `coalesce(sum(r.${column}) FILTER (WHERE ${condition}), 0)::int`;
}

/** Grouped by the cluster too, so that Postgres reads the nodes of the requested one only. */
const ZONES = `(
  SELECT n.cluster_id, coalesce(n.zone, '') AS zone, coalesce(n.region, '') AS region,
    coalesce(n.region, '') || '/' || coalesce(n.zone, '') AS key, count(*)::int AS nodes,
    ${STANDINGS.map((one) => `(count(*) FILTER (WHERE ${NODE_STANDING} = '${one}'))::int AS "${one}"`).join(', ')},
    sum(d.disks)::int AS disks,
    ${STORAGE.map((one) => `${bytesSum(`d.${one}`)}::bigint AS ${one}`).join(', ')},
    sum(r.total)::int AS total, ${countWhere('total', NODE_SILENT)} AS silent,
    ${countWhere('failed', `NOT ${NODE_SILENT}`)} AS failed, ${countWhere('rebuilding', `NOT ${NODE_SILENT}`)} AS rebuilding
  FROM node n
  CROSS JOIN LATERAL (
    SELECT count(*) AS disks, sum(d.storage_maximum_bytes) AS maximum, sum(d.storage_available_bytes) AS available,
      sum(d.storage_reserved_bytes) AS reserved, sum(d.storage_scheduled_bytes) AS scheduled, sum(d.written_bytes) AS written
    FROM disk d WHERE d.node_id = n.id) d
  CROSS JOIN LATERAL (
    SELECT count(*) AS total,
      count(*) FILTER (WHERE r.failed_at IS NOT NULL AND r.mode IS DISTINCT FROM 'WO') AS failed,
      count(*) FILTER (WHERE r.mode = 'WO') AS rebuilding
    FROM replica r WHERE r.node_id = n.id) r
  GROUP BY n.cluster_id, coalesce(n.region, ''), coalesce(n.zone, '')) z`;

type ZoneRow = { zone: string; region: string; nodes: number; disks: number } & Record<
  NodeStanding | (typeof STORAGE)[number] | keyof ZoneSummary['replicas'],
  number
>;

export function listZones(sql: Sql, clusterId: ClusterId, request: ListRequest): Promise<Page<ZoneSummary>> {
  const source = {
    columns: 'z.*',
    from: ZONES,
    key: FIELDS.key,
    fields: FIELDS,
    defaultSort: 'key',
    where: { text: 'z.cluster_id = $1', values: [clusterId] },
  };
  return listItems<ZoneRow, ZoneSummary>(sql, source, request, readZone);
}

function readZone(row: ZoneRow): ZoneSummary {
  const { notReady, unanswering, draining, drained, cordoned, inMaintenance, closed, open } = row;
  const { maximum, available, reserved, scheduled, written } = row;
  return {
    zone: row.zone === '' ? undefined : row.zone,
    region: row.region === '' ? undefined : row.region,
    nodes: {
      total: row.nodes,
      notReady,
      unanswering,
      draining,
      drained,
      cordoned,
      inMaintenance,
      closed,
      open,
    },
    disks: row.disks,
    storage: { maximum, available, reserved, scheduled, written },
    replicas: { total: row.total, silent: row.silent, failed: row.failed, rebuilding: row.rebuilding },
  };
}
