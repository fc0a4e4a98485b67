/** Who answers a setting for itself, where it could leave it to others: volumes of the cluster, and other clusters of the organization. */
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { OverrideField } from '@holdfast/core/model/volume-overrides.js';
import { ownAnswersOf } from '../rows/override-columns.js';
import type { Sql } from '../sql/scope.js';

/** Clusters that are named; the others are counted. */
export const OVERRIDING_CLUSTERS_MAX = 5;

export type OverridingClusters = {
  readonly total: number;
  readonly shown: readonly { id: ClusterId; name: string }[];
};

export type SettingOverrides = {
  /** Volumes by the field with which they answer; none for those that all leave to the cluster. */
  readonly volumes: ReadonlyMap<OverrideField, number>;
  /** By the name of the setting. */
  readonly clusters: ReadonlyMap<string, OverridingClusters>;
};

/** Of what the caller may see. Reads each volume of the cluster once, without its replicas. */
export async function findSettingOverrides(sql: Sql, clusterId: ClusterId): Promise<SettingOverrides> {
  const volumes = await sql.query<{ field: OverrideField; volumes: number }>(
    `SELECT field, count(*)::int AS volumes FROM volume v CROSS JOIN LATERAL unnest(${ownAnswersOf('v')}) field
     WHERE v.cluster_id = $1 GROUP BY field`,
    [clusterId],
  );
  const clusters = await sql.query<{ setting: string; total: number; id: ClusterId; name: string }>(
    `SELECT setting, total, id, name FROM (
       SELECT s.name AS setting, c.id, c.name, count(*) OVER (PARTITION BY s.name)::int AS total,
         row_number() OVER (PARTITION BY s.name ORDER BY c.name, c.id) AS rank
       FROM setting s JOIN cluster c ON c.id = s.cluster_id WHERE s.cluster_id <> $1) one
     WHERE rank <= $2 ORDER BY setting, rank`,
    [clusterId, OVERRIDING_CLUSTERS_MAX],
  );
  const bySetting = new Map<string, OverridingClusters>();
  for (const { setting, total, id, name } of clusters.rows)
    bySetting.set(setting, { total, shown: [...(bySetting.get(setting)?.shown ?? []), { id, name }] });
  return {
    volumes: new Map(volumes.rows.map(({ field, volumes: count }) => [field, count])),
    clusters: bySetting,
  };
}
