import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { hasCluster } from '@holdfast/database/queries/clusters.js';
import { findClusterUse } from '@holdfast/database/queries/grants.js';
import type { Sql } from '@holdfast/database/sql/scope.js';

/** A list of a missing cluster is refused, not empty. */
export async function requireCluster(sql: Sql, clusterId: ClusterId): Promise<void> {
  if (!(await hasCluster(sql, clusterId))) throw clusterNotFound(clusterId);
}

/** As `requireCluster`, also of a cluster that was granted to the organization: for its own volumes there. */
export async function requireUsableCluster(sql: Sql, clusterId: ClusterId) {
  const use = await findClusterUse(sql, clusterId);
  if (use === undefined) throw clusterNotFound(clusterId);
  return use;
}

export function clusterNotFound(clusterId: ClusterId): StorageFault {
  return new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
}
