/** Quotas of organizations and projects: limits that users set, and what triggers count (ADR 0186). */

import type { QuotaDimension } from '@holdfast/access/quota.js';
import { asId, type OrganizationId, type ProjectId } from '@holdfast/core/model/ids.js';
import type { Quota } from '../generated/prisma/client.js';
import { withPlainRows } from '../plain/plain-rows.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';

/** Whose quota it is. */
export type QuotaOwner = OrganizationId | ProjectId;

/** Null: no limit. */
export type StoredLimits = Record<QuotaDimension | 'runningRebuilds' | 'requestsPerMinute', number | null>;

export type QuotaRow = {
  organizationId: OrganizationId;
  /** `undefined`: the organization's own. */
  projectId: ProjectId | undefined;
  limits: StoredLimits;
  used: Record<QuotaDimension | 'runningRebuilds', number>;
  version: number;
};

export function findQuota(sql: Sql, owner: QuotaOwner): Promise<QuotaRow | undefined> {
  return withPlainRows(sql, async ({ quota }) => {
    const row = await quota.findUnique({ where: { id: owner } });
    return row === null ? undefined : quotaOf(row);
  });
}

/**
 * The organization's quotas of requests, by whose they are. In SQL: every process asks again and again, and most need Prisma's client
 * for nothing else.
 */
export async function findRequestQuotas(sql: Sql): Promise<Map<QuotaOwner, number>> {
  const { rows } = await sql.query<{ id: QuotaOwner; requests_per_minute_max: number }>(
    'SELECT id, requests_per_minute_max FROM quota WHERE requests_per_minute_max IS NOT NULL',
  );
  return new Map(rows.map((row) => [row.id, row.requests_per_minute_max]));
}

/** Sets the limits that are given. @param fromVersion the version that they were decided on */
export function setQuotaLimits(
  sql: Sql,
  owner: QuotaOwner,
  {
    limits,
    fromVersion,
  }: { limits: { [Name in keyof StoredLimits]?: StoredLimits[Name] | undefined }; fromVersion: number },
): Promise<void> {
  return withPlainRows(sql, async ({ quota }) => {
    const columns = Object.entries(limits).map(([name, limit]) => [`${name}Max`, limit]);
    const { count } = await quota.updateMany({
      where: { id: owner, version: fromVersion },
      data: { ...Object.fromEntries(columns), version: { increment: 1 } },
    });
    if (count !== 1) throw conflict('another request has changed the quota meanwhile');
  });
}

function quotaOf(row: Quota): QuotaRow {
  return {
    organizationId: asId(row.organizationId),
    projectId: row.projectId === null ? undefined : asId(row.projectId),
    limits: {
      provisionedBytes: limitOf(row.provisionedBytesMax),
      physicalBytes: limitOf(row.physicalBytesMax),
      volumes: limitOf(row.volumesMax),
      snapshots: limitOf(row.snapshotsMax),
      runningRebuilds: limitOf(row.runningRebuildsMax),
      requestsPerMinute: limitOf(row.requestsPerMinuteMax),
    },
    used: {
      provisionedBytes: countOf(row.provisionedBytes),
      physicalBytes: countOf(row.physicalBytes),
      volumes: countOf(row.volumes),
      snapshots: countOf(row.snapshots),
      runningRebuilds: countOf(row.runningRebuilds),
    },
    version: row.version,
  };
}

/** A CHECK keeps limits to the range of a number. */
function limitOf(limit: bigint | null): number | null {
  return limit === null ? null : Number(limit);
}

/** Sums of thin volumes may exceed the exact range of a number; shown as its maximum. */
function countOf(used: bigint | Quota['physicalBytes']): number {
  return Math.min(Number(used), Number.MAX_SAFE_INTEGER);
}
