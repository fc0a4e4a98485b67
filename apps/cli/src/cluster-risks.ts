import { bodyIfFound } from './api.js';
import type { Context } from './context.js';
import { isForPeople } from './output/format.js';
import type { Cluster, ClusterRisk } from './types.js';

/** Risks requested at once. An organization has few clusters; one with many must not cause a burst of requests. */
const AT_ONCE_MAX = 8;

/**
 * Risk of each cluster, for texts: a cluster's own counts come from the last judgement, which takes a while for an unreachable node.
 * Scripts get the API's own objects, for which none is read. A cluster that was deleted meanwhile is left out.
 */
export async function risksOf(
  { api, output }: Context,
  clusters: readonly Pick<Cluster, 'id'>[],
): Promise<ReadonlyMap<string, ClusterRisk>> {
  const risks = new Map<string, ClusterRisk>();
  if (!isForPeople(output)) return risks;
  const look = async ({ id }: Pick<Cluster, 'id'>) => {
    const params = { path: { clusterId: id } };
    const risk = await bodyIfFound(api.GET('/clusters/{clusterId}/risk', { params }));
    if (risk !== undefined) risks.set(id, risk);
  };
  for (let at = 0; at < clusters.length; at += AT_ONCE_MAX)
    await Promise.all(clusters.slice(at, at + AT_ONCE_MAX).map(look));
  return risks;
}
