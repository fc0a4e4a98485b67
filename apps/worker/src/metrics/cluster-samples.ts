/**
 * Metrics of the clusters: definitions, and values computed from Postgres' figures. Labels are ids of clusters and running rebuilds,
 * and names of nodes and disks: never volumes, of which there may be any number.
 */
import type { ClusterFigures, VolumeTotals } from '@holdfast/database/queries/cluster-figures.js';

type Definition = { readonly help: string; readonly labels: readonly string[]; readonly isCounter?: true };

const PLACE = ['cluster', 'node', 'disk'];
const REBUILD = ['cluster', 'rebuild'];

export const CLUSTER_METRICS = {
  holdfast_cluster_info: { help: 'A cluster, by its names.', labels: ['cluster', 'name', 'organization'] },
  holdfast_volumes: { help: 'Volumes by state.', labels: ['cluster', 'state'] },
  holdfast_volume_capacity_bytes: { help: 'Sizes of all volumes.', labels: ['cluster'] },
  holdfast_volume_actual_size_bytes: {
    help: 'Bytes that hold data, of the fullest copy of each volume.',
    labels: ['cluster'],
  },
  holdfast_volume_robustness: {
    help: 'Volumes that are degraded or faulted.',
    labels: ['cluster', 'robustness'],
  },
  holdfast_redundancy_missing_replicas: {
    help: 'Full copies that volumes want and lack.',
    labels: ['cluster'],
  },
  holdfast_volumes_on_last_copy: {
    help: 'Volumes that want several full copies and have one.',
    labels: ['cluster'],
  },
  holdfast_node_status: {
    help: '1 where the condition of the node holds.',
    labels: ['cluster', 'node', 'condition'],
  },
  holdfast_agent_last_seen_seconds: {
    help: "Time since the node's agent was heard.",
    labels: ['cluster', 'node'],
  },
  holdfast_disk_capacity_bytes: { help: 'Size of the disk.', labels: PLACE },
  holdfast_disk_usage_bytes: { help: 'Bytes of the disk that are in use.', labels: PLACE },
  holdfast_disk_reservation_bytes: { help: 'Bytes that are kept free for other uses.', labels: PLACE },
  holdfast_disk_scheduled_bytes: { help: 'Sizes of the copies that are placed there.', labels: PLACE },
  holdfast_rebuild_queue_depth: { help: 'Rebuilds that wait.', labels: ['cluster', 'priority'] },
  holdfast_rebuilds_running: { help: 'Rebuilds that run.', labels: ['cluster'] },
  holdfast_rebuild_bytes_compared_total: {
    help: 'Bytes that a running rebuild has looked at while copying.',
    labels: REBUILD,
    isCounter: true,
  },
  holdfast_rebuild_bytes_skipped_total: {
    help: 'Bytes that a running rebuild found equal.',
    labels: REBUILD,
    isCounter: true,
  },
  holdfast_rebuild_bytes_sent_total: {
    help: 'Bytes that a running rebuild has sent.',
    labels: REBUILD,
    isCounter: true,
  },
  holdfast_rebuild_bytes_written_total: {
    help: 'Bytes that a running rebuild has written.',
    labels: REBUILD,
    isCounter: true,
  },
  holdfast_rebuild_bytes_verified_total: {
    help: 'Bytes that the target of a running rebuild has proved to hold.',
    labels: REBUILD,
    isCounter: true,
  },
  holdfast_outbox_lag_seconds: { help: 'Age of the oldest wake-up that no relay has taken.', labels: [] },
  holdfast_audit_unsealed_entries: {
    help: 'Entries of the audit log that are not in their chain yet.',
    labels: [],
  },
} as const satisfies Record<string, Definition>;

export type ClusterMetric = keyof typeof CLUSTER_METRICS;
export type Sample = {
  readonly name: ClusterMetric;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** Samples of one metric and labels add up. */
export function samplesOf(figures: ClusterFigures, totals: VolumeTotals): Sample[] {
  return [
    ...figures.clusters.map((row) => sample('holdfast_cluster_info', { ...row }, 1)),
    ...totals.flatMap(({ cluster, state, volumes, capacity, written }) => [
      sample('holdfast_volumes', { cluster, state }, volumes),
      sample('holdfast_volume_capacity_bytes', { cluster }, capacity),
      sample('holdfast_volume_actual_size_bytes', { cluster }, written),
    ]),
    ...redundancySamples(figures),
    ...placeSamples(figures),
    ...rebuildSamples(figures),
    sample('holdfast_outbox_lag_seconds', {}, figures.outboxLagSeconds),
    sample('holdfast_audit_unsealed_entries', {}, figures.unsealedEntries),
  ];
}

/** A cluster without trouble has zeros: an alert has to see that it ended, not a gap. */
function redundancySamples({ clusters, notWhole }: ClusterFigures): Sample[] {
  const none = clusters.flatMap(({ cluster }) => [
    sample('holdfast_volume_robustness', { cluster, robustness: 'degraded' }, 0),
    sample('holdfast_volume_robustness', { cluster, robustness: 'faulted' }, 0),
    sample('holdfast_redundancy_missing_replicas', { cluster }, 0),
    sample('holdfast_volumes_on_last_copy', { cluster }, 0),
    sample('holdfast_rebuilds_running', { cluster }, 0),
  ]);
  const some = notWhole.flatMap(({ cluster, robustness, volumes, missing, on_last_copy }) => [
    sample('holdfast_volume_robustness', { cluster, robustness }, volumes),
    sample('holdfast_redundancy_missing_replicas', { cluster }, missing),
    sample('holdfast_volumes_on_last_copy', { cluster }, on_last_copy),
  ]);
  return [...none, ...some];
}

function placeSamples({ nodes, disks }: ClusterFigures): Sample[] {
  const ofNodes = nodes.flatMap(({ cluster, node, ready, silent_seconds: silent }) => [
    sample('holdfast_node_status', { cluster, node, condition: 'ready' }, ready ? 1 : 0),
    ...(silent === null
      ? []
      : [sample('holdfast_agent_last_seen_seconds', { cluster, node }, Math.max(0, silent))]),
  ]);
  const ofDisks = disks.flatMap(({ cluster, node, disk, capacity, available, reserved, scheduled }) => {
    const place = { cluster, node, disk };
    return [
      sample('holdfast_disk_capacity_bytes', place, capacity),
      sample('holdfast_disk_usage_bytes', place, Math.max(0, capacity - available)),
      sample('holdfast_disk_reservation_bytes', place, reserved),
      sample('holdfast_disk_scheduled_bytes', place, scheduled),
    ];
  });
  return [...ofNodes, ...ofDisks];
}

function rebuildSamples({ waiting, running }: ClusterFigures): Sample[] {
  const ofWaiting = waiting.map(({ cluster, priority, rebuilds }) =>
    sample('holdfast_rebuild_queue_depth', { cluster, priority }, rebuilds),
  );
  const ofRunning = running.flatMap(({ cluster, rebuild, bytes }) => {
    const labels = { cluster, rebuild };
    return [
      sample('holdfast_rebuilds_running', { cluster }, 1),
      sample('holdfast_rebuild_bytes_compared_total', labels, bytes.compared ?? 0),
      sample('holdfast_rebuild_bytes_skipped_total', labels, bytes.skipped ?? 0),
      sample('holdfast_rebuild_bytes_sent_total', labels, bytes.sent ?? 0),
      sample('holdfast_rebuild_bytes_written_total', labels, bytes.written ?? 0),
      sample('holdfast_rebuild_bytes_verified_total', labels, bytes.verified ?? 0),
    ];
  });
  return [...ofWaiting, ...ofRunning];
}

function sample(name: ClusterMetric, labels: Readonly<Record<string, string>>, value: number): Sample {
  return { name, labels, value };
}
