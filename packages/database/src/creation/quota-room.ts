import {
  addedUse,
  type PassedQuota,
  passedQuota,
  QUOTA_DIMENSIONS,
  type QuotaLimits,
  type QuotaUse,
  useOfVolume,
} from '@holdfast/access/quota.js';
import type { ClusterId, OrganizationId, ProjectId } from '@holdfast/core/model/ids.js';
import type { QuotaScope } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import type { Sql } from '../sql/scope.js';

/** Whose limits they are; a grant is named by its cluster. */
type Owner = OrganizationId | ProjectId | ClusterId;

type Counted = { readonly scope: QuotaScope; readonly limits: QuotaLimits; used: QuotaUse };

/**
 * Room that quotas leave for the volumes of one transaction, so that one which passes a limit does not fail those that share the
 * transaction with it. Nothing is locked: a limit that another transaction reaches meanwhile is enforced at the commit.
 */
export class QuotaRoom {
  private constructor(private readonly counted: ReadonlyMap<Owner, Counted>) {}

  static async read(sql: Sql, volumes: readonly Volume[]): Promise<QuotaRoom> {
    const ids = new Set(volumes.flatMap(({ organizationId, projectId }) => [organizationId, projectId]));
    const granted = volumes.flatMap(({ grantedTags, clusterId }) =>
      grantedTags === undefined ? [] : [clusterId],
    );
    const { rows } = await sql.query<QuotaColumns>(
      `SELECT id, CASE WHEN project_id IS NULL THEN 'organization' ELSE 'project' END AS scope, provisioned_bytes_max, physical_bytes_max, volumes_max, snapshots_max,
         provisioned_bytes::float8, physical_bytes::float8, volumes, snapshots
       FROM quota WHERE id = ANY($1)
         AND coalesce(provisioned_bytes_max, physical_bytes_max, volumes_max, snapshots_max) IS NOT NULL
       UNION ALL
       SELECT cluster_id, 'grant', provisioned_bytes_max, NULL, volumes_max, NULL, provisioned_bytes::float8, 0, volumes, 0
       FROM cluster_grant WHERE cluster_id = ANY($2) AND organization_id = ANY($1)`,
      [[...ids], [...new Set(granted)]],
    );
    return new QuotaRoom(new Map(rows.map((row) => [row.id, countedOf(row)])));
  }

  /** Takes for a new volume; or nothing, and says which limit it would pass. */
  take(volume: Volume): PassedQuota | undefined {
    const use = useOfVolume(volume);
    const { organizationId, projectId, clusterId } = volume;
    const touched = [organizationId, projectId, clusterId].flatMap((id) => this.counted.get(id) ?? []);
    for (const { scope, limits, used } of touched) {
      const passed = passedQuota(scope, limits, { before: used, after: addedUse(used, use) });
      if (passed !== undefined) return passed;
    }
    for (const one of touched) one.used = addedUse(one.used, use);
    return undefined;
  }
}

type QuotaColumns = {
  id: Owner;
  scope: QuotaScope;
  provisioned_bytes_max: number | null;
  physical_bytes_max: number | null;
  volumes_max: number | null;
  snapshots_max: number | null;
  provisioned_bytes: number;
  physical_bytes: number;
  volumes: number;
  snapshots: number;
};

function countedOf(row: QuotaColumns): Counted {
  const { provisioned_bytes, physical_bytes, volumes, snapshots } = row;
  const most = {
    provisionedBytes: row.provisioned_bytes_max,
    physicalBytes: row.physical_bytes_max,
    volumes: row.volumes_max,
    snapshots: row.snapshots_max,
  };
  const limits = QUOTA_DIMENSIONS.flatMap((name) => (most[name] === null ? [] : [[name, most[name]]]));
  return {
    scope: row.scope,
    limits: Object.fromEntries(limits),
    used: { provisionedBytes: provisioned_bytes, physicalBytes: physical_bytes, volumes, snapshots },
  };
}
