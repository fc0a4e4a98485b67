/** Grants of clusters: what another organization may use of one, and what it uses; triggers count (ADR 0192). */
import type { Grant, GrantLimits, GrantPatch, NewGrant } from '@holdfast/control/ports/access-store.js';
import type { ClusterId, GrantId, OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import type { GrantedTags } from '@holdfast/core/model/volume.js';
import { withPlainRows } from '../plain/plain-rows.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';
import { type ListRequest, listRows, type Page } from './list-rows.js';

export type GrantRow = Grant;

/** A grant with the name of its cluster, which its receiver knows it by. */
export type ReceivedGrantRow = GrantRow & { clusterName: string };

const FIELDS = {
  id: { sql: 'g.id', type: 'id' },
  clusterId: { sql: 'g.cluster_id', type: 'id' },
  organizationId: { sql: 'g.organization_id', type: 'id' },
  createdAt: { sql: 'g.created_at', type: 'time' },
} as const;

const COLUMNS = `g.id, g.cluster_id AS "clusterId", g.owner_organization_id AS "ownerOrganizationId",
  g.organization_id AS "organizationId", g.version, g.created_at AS "createdAt",
  g.node_tags AS "nodeTags", g.disk_tags AS "diskTags",
  jsonb_build_object('provisionedBytes', g.provisioned_bytes_max, 'volumes', g.volumes_max,
    'runningRebuilds', g.running_rebuilds_max) AS limits,
  jsonb_build_object('provisionedBytes', g.provisioned_bytes, 'volumes', g.volumes) AS used`;

/** Those of a cluster, for its organization. */
export function listGrants(sql: Sql, clusterId: ClusterId, request: ListRequest): Promise<Page<GrantRow>> {
  const where = {
    text: 'g.cluster_id = $1 AND g.owner_organization_id = current_organization_id()',
    values: [clusterId],
  };
  return listRows<GrantRow>(sql, { ...SOURCE, columns: COLUMNS, from: 'cluster_grant g', where }, request);
}

/** Grants that the organization has received. Needs a scope with granted clusters, whose names it reads. */
export function listReceivedGrants(sql: Sql, request: ListRequest): Promise<Page<ReceivedGrantRow>> {
  return listRows<ReceivedGrantRow>(
    sql,
    {
      ...SOURCE,
      columns: `${COLUMNS}, c.name AS "clusterName"`,
      from: 'cluster_grant g JOIN cluster c ON c.id = g.cluster_id',
      where: { text: 'g.organization_id = current_organization_id()', values: [] },
    },
    request,
  );
}

const SOURCE = { key: FIELDS.id, fields: FIELDS, defaultSort: '-createdAt' } as const;

/** For the cluster's organization. */
export async function findGrant(
  sql: Sql,
  { clusterId, grantId }: { clusterId: ClusterId; grantId: GrantId },
): Promise<GrantRow | undefined> {
  const { rows } = await sql.query<GrantRow>(
    `SELECT ${COLUMNS} FROM cluster_grant g
     WHERE g.id = $1 AND g.cluster_id = $2 AND g.owner_organization_id = current_organization_id()`,
    [grantId, clusterId],
  );
  return rows[0];
}

/**
 * If the organization's volumes may be in the cluster (its own or a granted one, within the caller's token): the requirements of the
 * grant on their places.
 */
export async function findClusterUse(
  sql: Sql,
  clusterId: ClusterId,
): Promise<{ readonly grantedTags: GrantedTags | undefined } | undefined> {
  const { rows } = await sql.query<{ tags: GrantedTags | null }>(
    `SELECT NULL AS tags FROM cluster WHERE id = $1
     UNION ALL
     SELECT granted_tags(node_tags, disk_tags) FROM cluster_grant
     WHERE cluster_id = $1 AND organization_id = current_organization_id()`,
    [clusterId],
  );
  const row = rows[0];
  return row === undefined ? undefined : { grantedTags: row.tags ?? undefined };
}

/** True if the organization exists, for any caller. */
export async function organizationExists(sql: Sql, id: OrganizationId): Promise<boolean> {
  const { rows } = await sql.query<{ is_there: boolean }>('SELECT organization_exists($1) AS is_there', [id]);
  return rows[0]?.is_there === true;
}

/** Returns false when the organization has a grant of the cluster already. */
export function createGrant(sql: Sql, { limits, ...grant }: NewGrant): Promise<boolean> {
  const { nodeTags, diskTags } = grant;
  return withPlainRows(sql, async ({ clusterGrant }) => {
    const { clusterId, organizationId } = grant;
    if ((await clusterGrant.count({ where: { clusterId, organizationId } })) > 0) return false;
    await clusterGrant.create({
      data: { ...grant, ...limitColumns(limits), nodeTags: [...nodeTags], diskTags: [...diskTags] },
      // This role may not read all of the usage back.
      select: { id: true },
    });
    return true;
  });
}

/** @property madeBy user who changes it, and is responsible for it afterwards */
type GrantChange = GrantPatch & { readonly madeBy: UserId };

/** Existing volumes get its tags, and are reconciled again. */
export async function patchGrant(sql: Sql, grant: GrantRow, patch: GrantChange): Promise<void> {
  // Against volumes that are being made with the tags as they were.
  await sql.query('SELECT FROM cluster_grant WHERE id = $1 FOR UPDATE', [grant.id]);
  const { limits, nodeTags, diskTags } = grant;
  const after = {
    provisionedBytes: patch.provisionedBytes === undefined ? limits.provisionedBytes : patch.provisionedBytes,
    volumes: patch.volumes === undefined ? limits.volumes : patch.volumes,
    runningRebuilds: patch.runningRebuilds === undefined ? limits.runningRebuilds : patch.runningRebuilds,
  };
  await withPlainRows(sql, async ({ clusterGrant }) => {
    const { count } = await clusterGrant.updateMany({
      where: { id: grant.id, version: grant.version },
      data: {
        ...limitColumns(after),
        madeBy: patch.madeBy,
        nodeTags: [...(patch.nodeTags ?? nodeTags)],
        diskTags: [...(patch.diskTags ?? diskTags)],
        version: { increment: 1 },
      },
    });
    if (count !== 1) throw conflict('another request has changed the grant meanwhile');
  });
}

/** Returns false while volumes depend on it. */
export async function deleteGrant(sql: Sql, id: GrantId): Promise<boolean> {
  // Locked against volumes that are being made.
  const { rows } = await sql.query<{ volumes: number }>(
    'SELECT volumes FROM cluster_grant WHERE id = $1 FOR UPDATE',
    [id],
  );
  if ((rows[0]?.volumes ?? 0) > 0) return false;
  await withPlainRows(sql, ({ clusterGrant }) => clusterGrant.deleteMany({ where: { id } }));
  return true;
}

function limitColumns({ provisionedBytes, volumes, runningRebuilds }: GrantLimits) {
  return {
    provisionedBytesMax: provisionedBytes,
    volumesMax: volumes,
    runningRebuildsMax: runningRebuilds,
  };
}
