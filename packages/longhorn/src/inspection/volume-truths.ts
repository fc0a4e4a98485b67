/** State of a volume's replicas and engine, checked against its own rules. */
import { REBUILD_RETRIES_MAX } from '@holdfast/core/model/replica.js';
import { antiAffinity } from '@holdfast/core/scheduling/framework/placement-request.js';
import { tagsMatch } from '@holdfast/core/scheduling/framework/tags.js';
import type { LonghornReplica, LonghornVolume } from '../model.js';
import { schedulerSettings } from '../to-scheduler.js';
import { type ClusterIndex, grouped, isHealthyReplica, isPlacedReplica } from './cluster-index.js';
import type { Finding } from './report.js';

type Settings = ReturnType<typeof schedulerSettings>;

export function volumeTruths(index: ClusterIndex): Finding[] {
  const settings = schedulerSettings(index.cluster);
  // A dump without replicas has no findings about them.
  if (index.cluster.replicas.length === 0) return [];
  return index.cluster.volumes
    .filter(({ isDeleting, isSharded }) => !isDeleting && !isSharded)
    .flatMap((volume) => {
      const replicas = index.replicasOf.get(volume.name) ?? [];
      return [
        ...surplus(volume, replicas),
        ...shared(volume, replicas, index, settings),
        ...unfulfilled(volume, replicas, index, settings),
        ...lost(replicas, index),
        ...modes(volume, replicas, index),
        ...locality(volume, replicas),
        ...spent(replicas),
      ];
    });
}

function ofReplica(
  { name, at }: LonghornReplica,
  part: Pick<Finding, 'code' | 'severity' | 'message'>,
): Finding {
  return { ...part, object: `replica ${name}`, at };
}

function ofVolume(
  { name, at }: LonghornVolume,
  part: Pick<Finding, 'code' | 'severity' | 'message'>,
): Finding {
  return { ...part, object: `volume ${name}`, at };
}

/** Missing copies are reported with the volume, among those that are not in order. */
function surplus(volume: LonghornVolume, replicas: readonly LonghornReplica[]): Finding[] {
  const staying = replicas.filter((replica) => isPlacedReplica(replica) && !replica.evictionRequested);
  if (staying.length <= volume.numberOfReplicas) return [];
  const message = `has ${staying.length} copies, and wants ${volume.numberOfReplicas}: ${names(staying)}`;
  return [ofVolume(volume, { code: 'volume.surplus', severity: 'info', message })];
}

/** Copies in one node, zone or disk although the volume's rules forbid it. A copy that leaves does not count. */
function shared(
  volume: LonghornVolume,
  replicas: readonly LonghornReplica[],
  { nodes }: ClusterIndex,
  settings: Settings,
): Finding[] {
  const staying = replicas.filter((replica) => isPlacedReplica(replica) && !replica.evictionRequested);
  const isHard = (own: LonghornVolume['replicaSoftAntiAffinity'], soft: boolean) =>
    antiAffinity(own, soft) === 'required';
  const domains = [
    {
      code: 'replica.node-shared',
      what: 'node',
      hard: isHard(volume.replicaSoftAntiAffinity, settings.replicaSoftAntiAffinity),
      of: ({ nodeName }: LonghornReplica) => nodeName,
    },
    {
      code: 'replica.zone-shared',
      what: 'zone',
      hard: isHard(volume.replicaZoneSoftAntiAffinity, settings.replicaZoneSoftAntiAffinity),
      of: ({ nodeName }: LonghornReplica) => nodes.get(nodeName)?.zone ?? '',
    },
    {
      code: 'replica.disk-shared',
      what: 'disk',
      hard: isHard(volume.replicaDiskSoftAntiAffinity, settings.replicaDiskSoftAntiAffinity),
      of: ({ diskUuid }: LonghornReplica) => diskUuid,
    },
  ];
  return domains
    .filter(({ hard }) => hard)
    .flatMap(({ code, what, of }) =>
      [...grouped(staying, of)]
        .filter(([, inOne]) => inOne.length > 1)
        .map(([domain, inOne]) =>
          ofVolume(volume, {
            code,
            severity: 'warning',
            message: `${inOne.length} copies share ${domain === '' ? `the ${what} without a name` : `${what} ${domain}`}, which its anti-affinity forbids: ${names(inOne)}`,
          }),
        ),
    );
}

function unfulfilled(
  volume: LonghornVolume,
  replicas: readonly LonghornReplica[],
  { nodes, disks }: ClusterIndex,
  settings: Settings,
): Finding[] {
  return replicas.filter(isPlacedReplica).flatMap((replica): Finding[] => {
    const node = nodes.get(replica.nodeName);
    const disk = disks.get(replica.diskUuid);
    const wrong = [
      ...(node !== undefined &&
      !tagsMatch(node.tags, volume.nodeSelector, settings.allowEmptyNodeSelectorVolume)
        ? [
            `node ${node.name} with ${tagged(node.tags)}, and the volume asks for ${tagged(volume.nodeSelector)}`,
          ]
        : []),
      ...(disk !== undefined &&
      !tagsMatch(disk.tags, volume.diskSelector, settings.allowEmptyDiskSelectorVolume)
        ? [
            `disk ${disk.name} of ${disk.nodeName} with ${tagged(disk.tags)}, and the volume asks for ${tagged(volume.diskSelector)}`,
          ]
        : []),
    ];
    return wrong.map((where) =>
      ofReplica(replica, { code: 'replica.selector', severity: 'warning', message: `is on ${where}` }),
    );
  });
}

/** A disk is found by its UUID: manifests that were written by hand name its path or its name. */
function lost(replicas: readonly LonghornReplica[], { disks, cluster }: ClusterIndex): Finding[] {
  if (cluster.nodes.length === 0) return [];
  return replicas
    .filter(({ diskUuid, isDeleting }) => diskUuid !== '' && !isDeleting)
    .flatMap((replica): Finding[] => {
      const disk = disks.get(replica.diskUuid);
      if (disk === undefined) {
        const message = `names disk ${replica.diskUuid}, and no node has a disk of that UUID`;
        return [ofReplica(replica, { code: 'replica.disk-unknown', severity: 'warning', message })];
      }
      if (disk.nodeName === replica.nodeName) return [];
      const message = `is said to be on node ${replica.nodeName}, and its disk is on node ${disk.nodeName}`;
      return [ofReplica(replica, { code: 'replica.disk-moved', severity: 'warning', message })];
    });
}

function modes(
  volume: LonghornVolume,
  replicas: readonly LonghornReplica[],
  { enginesOf }: ClusterIndex,
): Finding[] {
  const engines = (enginesOf.get(volume.name) ?? []).filter(({ isActive }) => isActive);
  if (engines.length > 1) {
    const message = `has ${engines.length} active engines: ${names(engines)}`;
    return [ofVolume(volume, { code: 'engine.second', severity: 'critical', message })];
  }
  const [engine] = engines;
  if (engine === undefined) return [];
  const known = new Map(replicas.map((replica) => [replica.name, replica]));
  return [...engine.modes].flatMap(([name, mode]): Finding[] => {
    const replica = known.get(name);
    if (replica === undefined) {
      const message = `engine ${engine.name} has ${name} as ${mode}, and there is no such replica`;
      return [ofVolume(volume, { code: 'engine.mode', severity: 'warning', message })];
    }
    const isWrong = mode === 'RW' ? replica.failedAt !== '' : mode === 'ERR' && replica.failedAt === '';
    const said = replica.failedAt === '' ? 'has not failed' : `failed at ${replica.failedAt}`;
    const message = `engine ${engine.name} has it as ${mode}, and its object says that it ${said}`;
    return isWrong ? [ofReplica(replica, { code: 'engine.mode', severity: 'warning', message })] : [];
  });
}

function locality(volume: LonghornVolume, replicas: readonly LonghornReplica[]): Finding[] {
  if (volume.dataLocality === 'disabled' || volume.state !== 'attached' || volume.nodeName === '') return [];
  if (replicas.some((replica) => isHealthyReplica(replica) && replica.nodeName === volume.nodeName))
    return [];
  const severity = volume.dataLocality === 'strict-local' ? 'critical' : 'info';
  const message = `asks for ${volume.dataLocality} data, is attached to ${volume.nodeName}, and has no whole copy there`;
  return [ofVolume(volume, { code: 'volume.locality', severity, message })];
}

function spent(replicas: readonly LonghornReplica[]): Finding[] {
  return replicas
    .filter(
      ({ failedAt, rebuildRetryCount, isDeleting }) =>
        failedAt !== '' && rebuildRetryCount >= REBUILD_RETRIES_MAX && !isDeleting,
    )
    .map((replica) =>
      ofReplica(replica, {
        code: 'replica.no-retries',
        severity: 'info',
        message: `failed, and was rebuilt in vain ${replica.rebuildRetryCount} times: Longhorn takes it back no more`,
      }),
    );
}

function names(items: readonly { readonly name: string }[]): string {
  return items.map(({ name }) => name).join(', ');
}

function tagged(tags: readonly string[]): string {
  return tags.length === 0 ? 'no tag' : `the tags ${tags.join(', ')}`;
}
