/** A cluster out of lists of objects, without a file. */
import type { LonghornCluster } from '../src/model.js';
import { type KubernetesObject, readObjects } from '../src/reading/read-objects.js';
import { ClusterBuilder } from '../src/to-cluster.js';
import type { Json } from './longhorn-objects.js';

export function clusterOf(lists: ReadonlyMap<string, readonly Json[]>): LonghornCluster {
  const text = JSON.stringify({ kind: 'List', items: [...lists.values()].flat() });
  const builder = new ClusterBuilder(() => {});
  for (const one of readObjects({ kind: 'text', file: 'dump.json', text }))
    if (isObject(one)) builder.add(one);
  return { ...builder.build(), problems: [], problemsLeftOut: 0, unreadFiles: 0 };
}

function isObject(one: { readonly kind: string }): one is KubernetesObject {
  return one.kind === 'object';
}
