/** Figures of nodes about disks, computed again from their own parts. */
import { formatBytes, percentOf } from '@holdfast/core/model/bytes.js';
import type { LonghornDisk, LonghornNode } from '../model.js';
import { conditionOf } from '../reading/fields.js';
import { schedulerSettings } from '../to-scheduler.js';
import type { ClusterIndex } from './cluster-index.js';
import type { Finding } from './report.js';

export function diskTruths(index: ClusterIndex): Finding[] {
  const settings = schedulerSettings(index.cluster);
  return index.cluster.nodes.flatMap((node) =>
    node.disks.flatMap((disk) => [
      ...sumOf(node, disk),
      ...entriesOf(node, disk, index),
      ...pressureOf(
        node,
        disk,
        settings.storageMinimalAvailablePercentage,
        settings.storageOverProvisioningPercentage,
      ),
    ]),
  );
}

function finding(
  node: LonghornNode,
  disk: LonghornDisk,
  part: Pick<Finding, 'code' | 'severity' | 'message'>,
): Finding {
  return { ...part, object: `disk ${node.name}/${disk.name}`, at: node.at };
}

/** The figure that placement reads must be the sum of the listed ones. */
function sumOf(node: LonghornNode, disk: LonghornDisk): Finding[] {
  const listed = [...disk.scheduledReplicas.values(), ...disk.scheduledBackingImages.values()];
  const sumBytes = listed.reduce((sum, bytes) => sum + bytes, 0);
  if (sumBytes === disk.scheduledBytes) return [];
  const message =
    `storageScheduled is ${exact(disk.scheduledBytes)}, and its ${listed.length} entries come to ${exact(sumBytes)}: ` +
    `placement reckons with ${exact(Math.abs(disk.scheduledBytes - sumBytes))} too ${disk.scheduledBytes > sumBytes ? 'much' : 'little'}`;
  return [finding(node, disk, { code: 'disk.scheduled-sum', severity: 'warning', message })];
}

/** Each entry has to have a replica on that disk, and the other way round. */
function entriesOf(
  node: LonghornNode,
  disk: LonghornDisk,
  { replicas, replicasOnDisk, cluster }: ClusterIndex,
): Finding[] {
  if (cluster.replicas.length === 0 || disk.uuid === '') return [];
  const strays = [...disk.scheduledReplicas.keys()].filter(
    (name) => replicas.get(name)?.diskUuid !== disk.uuid,
  );
  const missing = (replicasOnDisk.get(disk.uuid) ?? []).filter(
    ({ name, isDeleting }) => !isDeleting && !disk.scheduledReplicas.has(name),
  );
  return [
    ...strays.map((name) =>
      finding(node, disk, {
        code: 'disk.scheduled-stray',
        severity: 'warning',
        message: `scheduledReplica lists ${name}, ${replicas.has(name) ? 'which is on another disk' : 'which does not exist'}`,
      }),
    ),
    ...missing.map(({ name, sizeBytes }) =>
      finding(node, disk, {
        code: 'disk.scheduled-missing',
        severity: 'warning',
        message: `replica ${name} of ${exact(sizeBytes)} is on it, and scheduledReplica does not list it`,
      }),
    ),
  ];
}

/** Disk pressure is two formulas over four figures. */
function pressureOf(
  node: LonghornNode,
  disk: LonghornDisk,
  minimalPercent: number,
  overPercent: number,
): Finding[] {
  const condition = conditionOf(disk.conditions, 'Schedulable');
  const isReady = conditionOf(disk.conditions, 'Ready')?.status === 'True';
  if (condition === undefined || !isReady || disk.isMissingFromSpec) return [];
  const minimumBytes = percentOf(disk.maximumBytes, minimalPercent);
  const limitBytes = percentOf(disk.maximumBytes - disk.reservedBytes, overPercent);
  const reasons = [
    ...(disk.maximumBytes <= 0 || disk.availableBytes <= minimumBytes
      ? [
          `${exact(disk.availableBytes)} are free, and more than ${minimalPercent} % of ${exact(disk.maximumBytes)} (${exact(minimumBytes)}) have to be`,
        ]
      : []),
    ...(disk.scheduledBytes > limitBytes
      ? [
          `${exact(disk.scheduledBytes)} are promised, and at most ${overPercent} % of what is not reserved (${exact(limitBytes)}) may be`,
        ]
      : []),
  ];
  const says = condition.status === 'False' && condition.reason === 'DiskPressure';
  if (reasons.length > 0) {
    const stale = says ? '' : '; its condition does not say so yet';
    const code = says ? 'disk.pressure' : 'disk.pressure-unsaid';
    return [
      finding(node, disk, {
        code,
        severity: 'warning',
        message: `takes no new replica: ${reasons.join('; ')}${stale}`,
      }),
    ];
  }
  if (!says) return [];
  const message = `its condition says DiskPressure, and its figures do not: ${exact(disk.availableBytes)} are free (more than ${exact(minimumBytes)} have to be), ${exact(disk.scheduledBytes)} of ${exact(limitBytes)} are promised`;
  return [finding(node, disk, { code: 'disk.pressure-stale', severity: 'warning', message })];
}

/** Both for people and to the byte, since a formula may fail by one. */
function exact(bytes: number): string {
  const short = formatBytes(bytes);
  return short === `${bytes} B` ? short : `${short} (${bytes} B)`;
}
