import type {
  LonghornCluster,
  LonghornDisk,
  LonghornEngine,
  LonghornNode,
  LonghornReplica,
} from '../model.js';

/** Look-ups over a cluster, made once: every rule asks them for every volume. */
export type ClusterIndex = {
  readonly cluster: LonghornCluster;
  readonly replicasOf: ReadonlyMap<string, readonly LonghornReplica[]>;
  readonly enginesOf: ReadonlyMap<string, readonly LonghornEngine[]>;
  readonly replicas: ReadonlyMap<string, LonghornReplica>;
  readonly replicasOnDisk: ReadonlyMap<string, readonly LonghornReplica[]>;
  readonly nodes: ReadonlyMap<string, LonghornNode>;
  readonly disks: ReadonlyMap<string, LonghornDisk>;
};

export function indexOf(cluster: LonghornCluster): ClusterIndex {
  const { replicas, engines, nodes } = cluster;
  return {
    cluster,
    replicasOf: grouped(replicas, ({ volumeName }) => volumeName),
    enginesOf: grouped(engines, ({ volumeName }) => volumeName),
    replicas: new Map(replicas.map((replica) => [replica.name, replica])),
    replicasOnDisk: grouped(replicas, ({ diskUuid }) => diskUuid),
    nodes: new Map(nodes.map((node) => [node.name, node])),
    disks: new Map(
      nodes
        .flatMap(({ disks }) => disks)
        .filter(({ uuid }) => uuid !== '')
        .map((disk) => [disk.uuid, disk]),
    ),
  };
}

export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Usable data, as Longhorn says it by two times. */
export function isHealthyReplica({ healthyAt, failedAt, isDeleting }: LonghornReplica): boolean {
  return healthyAt !== '' && failedAt === '' && !isDeleting;
}

/** Holds a place, and has not failed. */
export function isPlacedReplica({
  nodeName,
  diskUuid,
  failedAt,
  isActive,
  isDeleting,
}: LonghornReplica): boolean {
  return nodeName !== '' && diskUuid !== '' && failedAt === '' && isActive && !isDeleting;
}
