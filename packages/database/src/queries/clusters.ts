import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId, OrganizationId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Robustness } from '@holdfast/core/model/volume.js';
import { withPlainRows } from '../plain/plain-rows.js';
import { NODE_READY } from '../rows/readiness-sql.js';
import type { Sql } from '../sql/scope.js';
import { bytesSum } from '../sql/sums.js';
import { type ListRequest, listRows, mapPage, type Page } from './list-rows.js';

/** A cluster with its figures for an overview. */
export type ClusterSummary = {
  id: ClusterId;
  name: string;
  version: number;
  createdAt: Date;
  nodes: { total: number; ready: number };
  volumes: { total: number } & Record<Robustness, number>;
  rebuilds: { running: number; queued: number };
  storage: { maximum: number; available: number; reserved: number; scheduled: number; written: number };
};

const FIELDS = {
  id: { sql: 'c.id', type: 'id' },
  name: { sql: 'c.name', type: 'text' },
  createdAt: { sql: 'c.created_at', type: 'time' },
} as const;

const SUMMARY = `
  (SELECT jsonb_build_object('total', count(*),
     'ready', count(*) FILTER (WHERE ${NODE_READY}))
   FROM node n WHERE n.cluster_id = c.id) AS nodes,
  (SELECT jsonb_build_object('total', count(*), 'healthy', count(*) FILTER (WHERE v.robustness = 'healthy'),
     'degraded', count(*) FILTER (WHERE v.robustness = 'degraded'),
     'faulted', count(*) FILTER (WHERE v.robustness = 'faulted'),
     'unknown', count(*) FILTER (WHERE v.robustness = 'unknown'))
   FROM volume v WHERE v.cluster_id = c.id) AS volumes,
  (SELECT jsonb_build_object('running', count(*) FILTER (WHERE b.state = 'running'),
     'queued', count(*) FILTER (WHERE b.state = 'queued'))
   FROM rebuild b WHERE b.cluster_id = c.id AND b.state IN ('queued', 'running')) AS rebuilds,
  (SELECT jsonb_build_object('maximum', ${bytesSum('d.storage_maximum_bytes')},
     'available', ${bytesSum('d.storage_available_bytes')},
     'reserved', ${bytesSum('d.storage_reserved_bytes')},
     'scheduled', ${bytesSum('d.storage_scheduled_bytes')}, 'written', ${bytesSum('d.written_bytes')})
   FROM disk d WHERE d.cluster_id = c.id) AS storage`;

type ClusterRow = Omit<ClusterSummary, 'createdAt'> & { created_at: Date };

function readCluster({
  id,
  name,
  version,
  created_at,
  nodes,
  volumes,
  rebuilds,
  storage,
}: ClusterRow): ClusterSummary {
  return { id, name, version, createdAt: created_at, nodes, volumes, rebuilds, storage };
}

export async function listClusters(sql: Sql, request: ListRequest): Promise<Page<ClusterSummary>> {
  const page = await listRows<ClusterRow>(
    sql,
    {
      columns: `c.*, ${SUMMARY}`,
      from: 'cluster c',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: 'name',
      where: { text: 'true', values: [] },
    },
    request,
  );
  return mapPage(page, readCluster);
}

export async function findCluster(sql: Sql, clusterId: ClusterId): Promise<ClusterSummary | undefined> {
  const { rows } = await sql.query<ClusterRow>(`SELECT c.*, ${SUMMARY} FROM cluster c WHERE c.id = $1`, [
    clusterId,
  ]);
  return rows.map(readCluster)[0];
}

/** Clusters by their ids, in no order; those that are not there are left out. */
export async function findClusters(sql: Sql, clusterIds: readonly ClusterId[]): Promise<ClusterSummary[]> {
  const { rows } = await sql.query<ClusterRow>(`SELECT c.*, ${SUMMARY} FROM cluster c WHERE c.id = ANY($1)`, [
    clusterIds,
  ]);
  return rows.map(readCluster);
}

export async function createCluster(
  sql: Sql,
  cluster: { id: ClusterId; organizationId: OrganizationId; name: string; now: Date },
): Promise<void> {
  await sql.query('INSERT INTO cluster (id, organization_id, name, created_at) VALUES ($1, $2, $3, $4)', [
    cluster.id,
    cluster.organizationId,
    cluster.name,
    cluster.now,
  ]);
}

/** Returns false when there is no such cluster. */
export async function renameCluster(
  sql: Sql,
  cluster: { id: ClusterId; name: string; ifVersion: number | undefined },
): Promise<boolean> {
  const { rows } = await sql.query<{ version: number }>(
    'SELECT version FROM cluster WHERE id = $1 FOR UPDATE',
    [cluster.id],
  );
  const current = rows[0];
  if (current === undefined) return false;
  assertVersion(current.version, cluster.ifVersion);
  await sql.query('UPDATE cluster SET name = $2, version = version + 1 WHERE id = $1', [
    cluster.id,
    cluster.name,
  ]);
  return true;
}

/** Returns false when there is no such cluster. Only one without nodes and volumes may go. */
export async function deleteCluster(
  sql: Sql,
  clusterId: ClusterId,
  ifVersion: number | undefined,
): Promise<boolean> {
  const { rows } = await sql.query<{ version: number; nodes: boolean; volumes: boolean; grants: boolean }>(
    `SELECT c.version, EXISTS (SELECT FROM node n WHERE n.cluster_id = c.id) AS nodes,
       EXISTS (SELECT FROM volume v WHERE v.cluster_id = c.id) AS volumes,
       EXISTS (SELECT FROM cluster_grant g WHERE g.cluster_id = c.id) AS grants
     FROM cluster c WHERE c.id = $1 FOR UPDATE`,
    [clusterId],
  );
  const row = rows[0];
  if (row === undefined) return false;
  assertVersion(row.version, ifVersion);
  if (row.nodes || row.volumes || row.grants) {
    throw new StorageFault('cluster.not_empty', {
      publicMessage: `the cluster still has ${row.volumes ? 'volumes' : row.nodes ? 'nodes' : 'grants'}`,
      cures: ['delete its volumes, then its nodes and grants'],
    });
  }
  await sql.query('DELETE FROM cluster WHERE id = $1', [clusterId]);
  return true;
}

/** Settings of a cluster as they are stored. */
export type StoredSettings = {
  /** Values set by hand, by name; everything else has its default. */
  readonly overrides: Readonly<Record<string, unknown>>;
  /** Of all of them together. */
  readonly version: number;
};

/** For users who read them. Placement and workers read settings with the fleet, by SQL. */
export function findSettings(sql: Sql, clusterId: ClusterId): Promise<StoredSettings | undefined> {
  return withPlainRows(sql, async ({ cluster }) => {
    const found = await cluster.findUnique({
      where: { id: clusterId },
      select: { settingsVersion: true, settings: { select: { name: true, value: true } } },
    });
    if (found === null) return undefined;
    const { settings, settingsVersion: version } = found;
    return { overrides: Object.fromEntries(settings.map(({ name, value }) => [name, value])), version };
  });
}

export async function hasCluster(sql: Sql, clusterId: ClusterId): Promise<boolean> {
  const { rowCount } = await sql.query('SELECT FROM cluster WHERE id = $1', [clusterId]);
  return rowCount === 1;
}

type Subject = { nodeId: NodeId } | { volumeId: VolumeId };

/** The cluster that a node or volume is in; `undefined` when it is not there, or not this organization's. */
export async function findClusterOf(sql: Sql, subject: Subject): Promise<ClusterId | undefined> {
  const [text, id] =
    'nodeId' in subject
      ? ['SELECT cluster_id FROM node WHERE id = $1', subject.nodeId]
      : ['SELECT cluster_id FROM volume WHERE id = $1', subject.volumeId];
  const { rows } = await sql.query<{ cluster_id: ClusterId }>(text, [id]);
  return rows[0]?.cluster_id;
}
