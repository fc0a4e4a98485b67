import type { ClusterSummary } from '@holdfast/database/queries/clusters.js';
import type { z } from 'zod';
import type { clusterSchema } from './cluster.schemas.js';

export type ClusterView = z.infer<typeof clusterSchema>;

export function clusterView(cluster: ClusterSummary): ClusterView {
  return { ...cluster, createdAt: cluster.createdAt.toISOString() };
}
