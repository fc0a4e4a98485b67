import type { ClusterFigures } from '@holdfast/database/queries/cluster-figures.js';
import { expect, test } from '@jest/globals';
import { CLUSTER_METRICS, type ClusterMetric, samplesOf } from './cluster-samples.js';

const QUIET: ClusterFigures = {
  clusters: [{ cluster: 'c', name: 'local', organization: 'o' }],
  notWhole: [],
  nodes: [],
  disks: [],
  waiting: [],
  running: [],
  outboxLagSeconds: 0,
  unsealedEntries: 0,
};

/** The values of one metric by its labels; samples of the same labels add up. */
function valuesOf(name: ClusterMetric, part: Partial<ClusterFigures>): Record<string, number> {
  const values: Record<string, number> = {};
  for (const sample of samplesOf({ ...QUIET, ...part }, [])) {
    if (sample.name !== name) continue;
    const key = Object.values(sample.labels).join(' ');
    values[key] = (values[key] ?? 0) + sample.value;
  }
  return values;
}

const lacking = { cluster: 'c', volumes: 4, missing: 5, on_last_copy: 1 };

test.each<{ name: ClusterMetric; part: Partial<ClusterFigures>; want: Record<string, number> }>([
  { name: 'holdfast_volume_robustness', part: {}, want: { 'c degraded': 0, 'c faulted': 0 } },
  {
    name: 'holdfast_volume_robustness',
    part: { notWhole: [{ ...lacking, robustness: 'faulted' }] },
    want: { 'c degraded': 0, 'c faulted': 4 },
  },
  {
    name: 'holdfast_redundancy_missing_replicas',
    part: {
      notWhole: [
        { ...lacking, robustness: 'faulted' },
        { ...lacking, robustness: 'degraded' },
      ],
    },
    want: { c: 10 },
  },
  {
    name: 'holdfast_volumes_on_last_copy',
    part: { notWhole: [{ ...lacking, robustness: 'degraded' }] },
    want: { c: 1 },
  },
  {
    name: 'holdfast_node_status',
    part: { nodes: [{ cluster: 'c', node: 'n', ready: false, silent_seconds: 3 }] },
    want: { 'c n ready': 0 },
  },
  {
    name: 'holdfast_agent_last_seen_seconds',
    part: {
      nodes: [
        { cluster: 'c', node: 'never', ready: false, silent_seconds: null },
        { cluster: 'c', node: 'ahead', ready: true, silent_seconds: -0.2 },
      ],
    },
    want: { 'c ahead': 0 },
  },
  {
    name: 'holdfast_disk_usage_bytes',
    part: {
      disks: [
        { cluster: 'c', node: 'n', disk: 'd', capacity: 100, available: 30, reserved: 20, scheduled: 0 },
      ],
    },
    want: { 'c n d': 70 },
  },
  {
    name: 'holdfast_rebuilds_running',
    part: { running: [{ cluster: 'c', rebuild: 'r', bytes: { sent: 7 } }] },
    want: { c: 1 },
  },
  {
    name: 'holdfast_rebuild_bytes_sent_total',
    part: { running: [{ cluster: 'c', rebuild: 'r', bytes: { sent: 7 } }] },
    want: { 'c r': 7 },
  },
])('$name of $part', ({ name, part, want }) => {
  expect(valuesOf(name, part)).toEqual(want);
});

test('each sample has the labels of its metric, and none names a volume', () => {
  const figures = {
    ...QUIET,
    notWhole: [{ ...lacking, robustness: 'degraded' }],
    nodes: [{ cluster: 'c', node: 'n', ready: true, silent_seconds: 1 }],
    disks: [{ cluster: 'c', node: 'n', disk: 'd', capacity: 1, available: 1, reserved: 0, scheduled: 0 }],
    waiting: [{ cluster: 'c', priority: 'last_copy', rebuilds: 2 }],
    running: [{ cluster: 'c', rebuild: 'r', bytes: {} }],
  };
  const totals = [{ cluster: 'c', state: 'attached', volumes: 1, capacity: 2, written: 3 }];
  const samples = samplesOf(figures, totals);
  expect(new Set(samples.map(({ name }) => name))).toEqual(new Set(Object.keys(CLUSTER_METRICS)));
  for (const { name, labels } of samples) {
    expect(Object.keys(labels).sort()).toEqual([...CLUSTER_METRICS[name].labels].sort());
  }
  expect(Object.values(CLUSTER_METRICS).flatMap(({ labels }): readonly string[] => labels)).not.toContain(
    'volume',
  );
});
