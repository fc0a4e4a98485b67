import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import type { ClusterId, DiskId, NodeId } from '@holdfast/core/model/ids.js';
import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import { type DiskRow, readDisk } from '../rows/disk-row.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import { NODE_READY, NODE_SILENT, NODE_UNANSWERING } from '../rows/readiness-sql.js';
import type { Sql } from '../sql/scope.js';
import { bytesSum } from '../sql/sums.js';
import { removeNodeRows } from '../store/forgotten-nodes.js';
import { type ListSource, listsOf } from './list-rows.js';

/** A node, and the sums over its disks. */
export type NodeWithStorage = {
  node: StorageNode;
  pid: number | undefined;
  agentVersion: string | undefined;
  /** As `isUnanswering` reads it. */
  unansweredAt: Date | undefined;
  disks: number;
  replicas: number;
  storage: { maximum: number; available: number; reserved: number; scheduled: number; written: number };
};

/** How a node stands: the first that fits, the most urgent first. `closed`: a user has switched scheduling on it off. */
export type NodeStanding =
  | 'notReady'
  | 'unanswering'
  | 'draining'
  | 'drained'
  | 'cordoned'
  | 'inMaintenance'
  | 'closed'
  | 'open';

/** Of a node `n`. */
export const NODE_STANDING = `CASE WHEN NOT ${NODE_READY} THEN 'notReady' WHEN ${NODE_UNANSWERING} THEN 'unanswering'
  WHEN n.drain IS NOT NULL THEN CASE WHEN n.drain_status->>'state' = 'drained' THEN 'drained' ELSE 'draining' END
  WHEN n.cordoned THEN 'cordoned' WHEN n.maintenance IS NOT NULL THEN 'inMaintenance'
  WHEN NOT n.allow_scheduling THEN 'closed' ELSE 'open' END`;

/** Share of what may be promised that is promised, in whole percent; 0 where nothing may be. */
function promisedPercentOf(scheduled: string, maximum: string, reserved: string): string {
  return `coalesce(floor(100 * (${scheduled})::numeric / nullif(greatest((${maximum}) - (${reserved}), 0), 0)), 0)`;
}

/** Of a node `n`: a sum over its disks. */
const ofDisks = (column: string) => `(SELECT sum(d.${column}) FROM disk d WHERE d.node_id = n.id)`;

const NODE_FIELDS = {
  id: { sql: 'n.id', type: 'id' },
  name: { sql: 'n.name', type: 'text' },
  zone: { sql: `coalesce(n.zone, '')`, type: 'text' },
  region: { sql: `coalesce(n.region, '')`, type: 'text' },
  ready: { sql: NODE_READY, type: 'boolean' },
  /** Larger is worse; 2: its agent does not answer; 1: no new replica is placed on it. A drained one is as requested. */
  risk: {
    sql: `CASE WHEN ${NODE_SILENT} THEN 2 WHEN ${NODE_STANDING} IN ('open', 'drained') THEN 0 ELSE 1 END`,
    type: 'number',
  },
  promisedPercent: {
    sql: promisedPercentOf(
      ofDisks('storage_scheduled_bytes'),
      ofDisks('storage_maximum_bytes'),
      ofDisks('storage_reserved_bytes'),
    ),
    type: 'number',
  },
  cordoned: { sql: 'n.cordoned', type: 'boolean' },
  allowScheduling: { sql: 'n.allow_scheduling', type: 'boolean' },
  createdAt: { sql: 'n.created_at', type: 'time' },
  tags: { sql: 'n.tags', type: 'texts' },
  labels: { sql: 'n.id', type: 'labels' },
} as const;

const SUMS = `
  (SELECT count(*)::int FROM disk d WHERE d.node_id = n.id) AS disks,
  (SELECT count(*)::int FROM replica r WHERE r.node_id = n.id) AS replicas,
  (SELECT ${bytesSum('d.storage_maximum_bytes')}::bigint FROM disk d WHERE d.node_id = n.id) AS maximum,
  (SELECT ${bytesSum('d.storage_available_bytes')}::bigint FROM disk d WHERE d.node_id = n.id) AS available,
  (SELECT ${bytesSum('d.storage_reserved_bytes')}::bigint FROM disk d WHERE d.node_id = n.id) AS reserved,
  (SELECT ${bytesSum('d.storage_scheduled_bytes')}::bigint FROM disk d WHERE d.node_id = n.id) AS scheduled,
  (SELECT ${bytesSum('d.written_bytes')}::bigint FROM disk d WHERE d.node_id = n.id) AS written`;

type NodeListRow = NodeRow & {
  pid: number | null;
  agent_version: string | null;
  unanswered_at: Date | null;
  disks: number;
  replicas: number;
} & NodeWithStorage['storage'];

const nodesOf = (clusterId: ClusterId): ListSource => ({
  columns: `n.*, ${SUMS}`,
  from: 'node n',
  key: NODE_FIELDS.id,
  fields: NODE_FIELDS,
  defaultSort: 'name',
  where: { text: 'n.cluster_id = $1', values: [clusterId] },
});

/** Of a cluster, and of several clusters by one statement. */
export const { page: listNodes, pageOfEach: listNodesOfEach } = listsOf(nodesOf, readNodeWithStorage);

/** Nodes of any cluster, in no order; those that are not there are left out. */
export async function findNodes(sql: Sql, nodeIds: readonly NodeId[]): Promise<NodeWithStorage[]> {
  const { rows } = await sql.query<NodeListRow>(`SELECT n.*, ${SUMS} FROM node n WHERE n.id = ANY($1)`, [
    nodeIds,
  ]);
  return rows.map(readNodeWithStorage);
}

export async function findNode(
  sql: Sql,
  key: { clusterId: ClusterId; nodeId: NodeId },
): Promise<NodeWithStorage | undefined> {
  const { rows } = await sql.query<NodeListRow>(
    `SELECT n.*, ${SUMS} FROM node n WHERE n.id = $1 AND n.cluster_id = $2`,
    [key.nodeId, key.clusterId],
  );
  return rows.map(readNodeWithStorage)[0];
}

function readNodeWithStorage(row: NodeListRow): NodeWithStorage {
  const { maximum, available, reserved, scheduled, written } = row;
  return {
    node: readNode(row),
    pid: row.pid ?? undefined,
    agentVersion: row.agent_version ?? undefined,
    unansweredAt: row.unanswered_at ?? undefined,
    disks: row.disks,
    replicas: row.replicas,
    storage: { maximum, available, reserved, scheduled, written },
  };
}

/**
 * Deletes a node that is gone for good, and its disks.
 *
 * @returns the obstacle, or `gone` when there is no such node
 */
export async function deleteNode(
  sql: Sql,
  key: { clusterId: ClusterId; nodeId: NodeId; ifVersion?: number | undefined },
): Promise<'deleted' | 'gone' | 'holds-replicas' | 'ready'> {
  const { rows } = await sql.query<{ version: number; ready: boolean; used: boolean }>(
    `SELECT n.version, ${NODE_FIELDS.ready.sql} AS ready, node_is_used(n.id) AS used
     FROM node n WHERE n.id = $1 AND n.cluster_id = $2 FOR UPDATE`,
    [key.nodeId, key.clusterId],
  );
  const row = rows[0];
  if (row === undefined) return 'gone';
  assertVersion(row.version, key.ifVersion);
  if (row.used) return 'holds-replicas';
  // A living agent would make the node again at its next heartbeat.
  if (row.ready) return 'ready';
  await removeNodeRows(sql, key.nodeId);
  return 'deleted';
}

const DISK_FIELDS = {
  id: { sql: 'd.id', type: 'id' },
  name: { sql: 'd.name', type: 'text' },
  nodeId: { sql: 'd.node_id', type: 'id' },
  type: { sql: 'd.type', type: 'text' },
  allowScheduling: { sql: 'd.allow_scheduling', type: 'boolean' },
  storageMaximum: { sql: 'd.storage_maximum_bytes', type: 'number' },
  storageAvailable: { sql: 'd.storage_available_bytes', type: 'number' },
  storageScheduled: { sql: 'd.storage_scheduled_bytes', type: 'number' },
  promisedPercent: {
    sql: promisedPercentOf(
      'd.storage_scheduled_bytes',
      'd.storage_maximum_bytes',
      'd.storage_reserved_bytes',
    ),
    type: 'number',
  },
  tags: { sql: 'd.tags', type: 'texts' },
  labels: { sql: 'd.id', type: 'labels' },
} as const;

/** Whose disks are listed: of a node, or of the whole cluster. */
export type DisksOf = { readonly clusterId: ClusterId; readonly nodeId?: NodeId };

const disksOf = ({ clusterId, nodeId }: DisksOf): ListSource => ({
  columns: 'd.*',
  from: 'disk d',
  key: DISK_FIELDS.id,
  fields: DISK_FIELDS,
  defaultSort: 'name',
  where: {
    text: 'd.cluster_id = $1 AND ($2::uuid IS NULL OR d.node_id = $2)',
    values: [clusterId, nodeId ?? null],
  },
});

/** Of a node or a whole cluster, and of several of them by one statement. */
export const { page: listDisks, pageOfEach: listDisksOfEach } = listsOf(disksOf, readDisk);

/** Disks of any cluster, in no order; those that are not there are left out. */
export async function findDisks(sql: Sql, diskIds: readonly DiskId[]): Promise<StorageDisk[]> {
  const { rows } = await sql.query<DiskRow>('SELECT * FROM disk WHERE id = ANY($1)', [diskIds]);
  return rows.map(readDisk);
}

export async function findDisk(
  sql: Sql,
  key: { clusterId: ClusterId; nodeId: NodeId; diskId: DiskId },
): Promise<StorageDisk | undefined> {
  const { rows } = await sql.query<DiskRow>(
    'SELECT * FROM disk WHERE id = $1 AND node_id = $2 AND cluster_id = $3',
    [key.diskId, key.nodeId, key.clusterId],
  );
  return rows.map(readDisk)[0];
}
