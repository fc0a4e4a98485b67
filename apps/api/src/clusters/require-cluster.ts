import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { hasCluster } from '@holdfast/database/queries/clusters.js';
import type { Sql } from '@holdfast/database/sql/scope.js';

/** A list under a cluster that is not there is not an empty list. */
export async function requireCluster(sql: Sql, clusterId: ClusterId): Promise<void> {
  if (!(await hasCluster(sql, clusterId))) throw clusterNotFound(clusterId);
}

export function clusterNotFound(clusterId: ClusterId): StorageFault {
  return new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
}
