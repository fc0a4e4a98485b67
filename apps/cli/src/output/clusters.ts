import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { Cluster, ClusterRisk } from '../types.js';
import type { Column } from './table.js';

/** @param risks by the clusters' ids: the present state takes precedence over the last judgement */
export function clusterColumns(risks: ReadonlyMap<string, ClusterRisk>): Column<Cluster>[] {
  const now = ({ id, volumes }: Cluster) => risks.get(id)?.volumes ?? { ...volumes, notServed: 0 };
  return [
    { header: 'name', cell: ({ name }) => name },
    { header: 'nodes', cell: (cluster) => answeringText(cluster, risks.get(cluster.id)), align: 'right' },
    { header: 'volumes', cell: ({ volumes }) => String(volumes.total), align: 'right' },
    { header: 'not served', cell: (cluster) => String(now(cluster).notServed), align: 'right' },
    { header: 'degraded', cell: (cluster) => String(now(cluster).degraded), align: 'right' },
    { header: 'faulted', cell: (cluster) => String(now(cluster).faulted), align: 'right' },
    { header: 'unknown', cell: (cluster) => String(now(cluster).unknown), align: 'right' },
    { header: 'written', cell: ({ storage }) => formatBytes(storage.written), align: 'right' },
    { header: 'available', cell: ({ storage }) => formatBytes(storage.available), align: 'right' },
    { header: 'id', cell: ({ id }) => id },
  ];
}

/** Nodes that answer, of all. The look at the risk names each that does not, also while it counts as ready. */
function answeringText({ nodes }: Cluster, risk: ClusterRisk | undefined): string {
  const silent = risk?.causes.filter(({ kind }) => kind === 'node').length ?? nodes.total - nodes.ready;
  return `${nodes.total - silent}/${nodes.total}`;
}
