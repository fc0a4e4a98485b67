/** Zones, nodes and disks with what they hold, for a map. */
import { isTrue } from '../reading/fields.js';
import { type ClusterIndex, grouped } from './cluster-index.js';
import type { TopologyReport } from './report.js';

export function topologyOf({ cluster, replicasOnDisk }: ClusterIndex): TopologyReport {
  return [...grouped(cluster.nodes, ({ zone }) => zone)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([zone, nodes]) => ({
      zone,
      nodes: nodes.map((node) => ({
        name: node.name,
        isReady: isTrue(node.conditions, 'Ready'),
        takesReplicas: node.allowScheduling && !node.isCordoned && isTrue(node.conditions, 'Schedulable'),
        disks: node.disks.map(({ name, uuid, maximumBytes, availableBytes, scheduledBytes, conditions }) => ({
          name,
          isReady: isTrue(conditions, 'Ready'),
          maximumBytes,
          availableBytes,
          scheduledBytes,
          replicas: replicasOnDisk.get(uuid)?.length ?? 0,
        })),
      })),
    }));
}
