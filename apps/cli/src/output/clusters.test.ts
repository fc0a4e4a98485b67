import { expect, test } from '@jest/globals';
import type { Cluster, ClusterRisk } from '../types.js';
import { clusterColumns } from './clusters.js';

// The casts: the tested columns use nothing else.
const CLUSTER = {
  id: 'c',
  name: 'local',
  nodes: { total: 3, ready: 3 },
  volumes: { total: 5, healthy: 4, degraded: 1, faulted: 0, unknown: 0 },
} as Cluster;
const NODE_IS_SILENT = {
  volumes: { total: 5, healthy: 0, creating: 0, notServed: 2, degraded: 2, faulted: 0, unknown: 1 },
  causes: [{ kind: 'node' }, { kind: 'copies' }],
} as ClusterRisk;

/** The row of the cluster, by its columns. */
function row(risks: ReadonlyMap<string, ClusterRisk>): Record<string, string> {
  const shown = clusterColumns(risks).filter(({ header }) => !['written', 'available'].includes(header));
  return Object.fromEntries(shown.map(({ header, cell }) => [header, cell(CLUSTER)]));
}

test.each([
  [
    'what is known now goes before what was judged last',
    new Map([['c', NODE_IS_SILENT]]),
    { nodes: '2/3', volumes: '5', 'not served': '2', degraded: '2', faulted: '0', unknown: '1' },
  ],
  [
    'of a cluster whose risk is not there, it is what was judged last',
    new Map<string, ClusterRisk>(),
    { nodes: '3/3', volumes: '5', 'not served': '0', degraded: '1', faulted: '0', unknown: '0' },
  ],
])('in the list of clusters %s', (_what, risks, want) => {
  expect(row(risks)).toMatchObject(want);
});
