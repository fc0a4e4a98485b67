/**
 * Random fleets and requests, made to be hard on a scheduler: few distinct sizes, so that ties are common; disks that are full,
 * overdrawn or closed; replicas in every state. One seed gives one sequence.
 */

import { TIB } from '@holdfast/core/model/bytes.js';
import { asId, type NodeId, type ReplicaId } from '@holdfast/core/model/ids.js';
import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import { DRAIN_POLICIES } from '@holdfast/core/model/node-drain.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { FleetView } from '@holdfast/core/model/views.js';
import type { PlacementRequest } from '@holdfast/core/scheduling/framework/placement-request.js';
import { effectiveSettings } from '@holdfast/core/settings/effective.js';
import { NOON } from './builders.js';
import { aDisk, aFleet, aNode, aReplicaOn, aRequest } from './fleet-builder.js';

export class Chance {
  constructor(private state: number) {}

  /** From 0 to 1, without 1; mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  is(probability: number): boolean {
    return this.next() < probability;
  }

  of<T>(first: T, ...rest: readonly T[]): T {
    return [first, ...rest][this.below(rest.length + 1)] ?? first;
  }

  some<T>(items: readonly T[], probability: number): T[] {
    return items.filter(() => this.is(probability));
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, key: this.next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }
}

/** How large a fleet's numbers are: small ones make ties, terabytes meet the file-system limit. */
export type Scale = { readonly unitBytes: number };

export function randomScale(chance: Chance): Scale {
  return { unitBytes: chance.of(1, 1, 1, 4096, TIB / 8) };
}

export function randomFleet(chance: Chance, scale: Scale): FleetView {
  const alpha = chance.of(1, 1, 1, 0, 0.5, chance.next());
  const fleet = aFleet(
    {},
    {
      'balance-alpha': alpha,
      'storage-over-provisioning-percentage': chance.of(100, 100, 200, 50),
      'storage-minimal-available-percentage': chance.of(0, 10, 25),
      'allow-empty-node-selector-volume': chance.is(0.8),
      'allow-empty-disk-selector-volume': chance.is(0.8),
      'disable-scheduling-on-cordoned-node': chance.is(0.8),
      'replica-replenishment-wait-interval': 600,
    },
  );
  const nodes = Array.from({ length: 1 + chance.below(12) }, (_, n) => randomNode(chance, `n${n}`));
  const disks = nodes.flatMap((node) =>
    Array.from({ length: chance.of(0, 1, 1, 2, 3, 4) }, (_, d) =>
      randomDisk(chance, scale, node.id, `d${d}`),
    ),
  );
  return { ...fleet, nodes: chance.shuffled(nodes), disks: chance.shuffled(disks) };
}

/** Nodes alike in all but how full they are: what scores of many equal capacities are made for. */
export function randomUniformFleet(chance: Chance, { unitBytes }: Scale): FleetView {
  const alpha = chance.of(0, 0.5, chance.next());
  const fleet = aFleet({}, { 'balance-alpha': alpha, 'storage-minimal-available-percentage': 0 });
  const nodes = Array.from({ length: 2 + chance.below(14) }, (_, n) =>
    aNode(`n${n}`, { zone: chance.of('z1', 'z2') }),
  );
  const kinds = chance.of([100], [100, 400], [100, 200, 300]);
  const disks = nodes.flatMap((node) => {
    const bytes = chance.of(100, ...kinds) * unitBytes;
    return ['d0', 'd1'].map((name) => {
      const storageScheduledBytes = Math.floor((bytes / 20) * chance.below(20));
      return aDisk(node.id, `${node.id}-${name}`, { bytes, storageScheduledBytes });
    });
  });
  return { ...fleet, nodes: chance.shuffled(nodes), disks: chance.shuffled(disks) };
}

/** Later than any wait for a failed replica, so that it makes a difference. */
const MAINTENANCE_END = new Date(NOON.getTime() + 3_600_000);

export function randomNode(chance: Chance, name: string): StorageNode {
  return aNode(name, {
    zone: chance.of('z1', 'z1', 'z2', 'z3', '', undefined),
    region: chance.of('r1', undefined),
    tags: chance.some(['fast', 'big'], 0.4),
    ready: chance.is(0.95),
    cordoned: chance.is(0.05),
    maintenance: chance.is(0.05) ? { until: MAINTENANCE_END, reason: '' } : undefined,
    drain: chance.is(0.05)
      ? { policy: chance.of(...DRAIN_POLICIES), requestedAt: NOON, wasCordoned: false }
      : undefined,
    evictionRequested: chance.is(0.05),
    allowScheduling: chance.is(0.95),
    controlUrl: chance.is(0.97) ? 'http://node.test' : undefined,
  });
}

export function randomDisk(chance: Chance, { unitBytes }: Scale, nodeId: string, name: string): StorageDisk {
  const maximum = chance.of(0, 100, 100, 100, 200, 300, 40 + chance.below(200));
  const available = Math.floor(maximum * chance.of(1, 1, 0.5, 0.26, 0.25, 0.1, chance.next()));
  const scheduled = Math.floor(maximum * chance.of(0, 0, 0.1, 0.5, 0.9, 1.5, chance.next()));
  return aDisk(nodeId, `${nodeId}-${name}`, {
    storageMaximumBytes: maximum * unitBytes,
    storageAvailableBytes: available * unitBytes,
    storageReservedBytes: chance.of(0, 0, 10, 60) * unitBytes,
    storageScheduledBytes: scheduled * unitBytes,
    writtenBytes: Math.floor(scheduled * chance.of(0, 0, 0.5, 1.2)) * unitBytes,
    tags: chance.some(['ssd', 'nvme'], 0.5),
    type: chance.is(0.9) ? 'filesystem' : 'block',
    fileSystem: chance.of('xfs', 'ext4'),
    ready: chance.is(0.95),
    allowScheduling: chance.is(0.97),
    evictionRequested: chance.is(0.04),
  });
}

export function randomRequest(chance: Chance, { unitBytes }: Scale, fleet: FleetView): PlacementRequest {
  const size = chance.of(0, 1, 10, 10, 20, 50, 100, 120, chance.below(160));
  const node = fleet.nodes[chance.below(fleet.nodes.length)];
  return aRequest({
    sizeBytes: size * unitBytes,
    writtenBytes: Math.floor(size * chance.of(0, 0, 0.5, 1)) * unitBytes,
    dataEngine: chance.is(0.9) ? 'v1' : 'v2',
    nodeSelector: chance.some(['fast', 'big', 'absent'], chance.of(0, 0.2)),
    diskSelector: chance.some(['ssd', 'nvme'], chance.of(0, 0.3)),
    nodeAntiAffinity: chance.of('required', 'preferred'),
    zoneAntiAffinity: chance.of('required', 'preferred'),
    diskAntiAffinity: chance.of('required', 'preferred'),
    diskChoice: chance.of('spread', 'spread', 'pack'),
    replicas: fleet.disks.length === 0 ? [] : randomReplicas(chance, fleet),
    requiredNodeId: chance.is(0.05) ? node?.id : undefined,
    localNodeId: chance.is(0.3) ? node?.id : undefined,
    topology: chance.is(0.9)
      ? []
      : [{ zone: chance.of('z1', undefined), region: chance.of('r1', undefined) }],
  });
}

function randomReplicas(chance: Chance, { disks }: FleetView): Replica[] {
  return Array.from({ length: chance.of(0, 0, 1, 2, 2, 3, 5) }, (_, index) => {
    const disk = disks[chance.below(disks.length)];
    const failedAgoSeconds = chance.of(0, 60, 599, 600, 6000);
    return aReplicaOn(disk?.id ?? '', {
      id: asId<ReplicaId>(`r${index}`),
      nodeId: chance.is(0.97) ? disk?.nodeId : asId<NodeId>('gone'),
      intent: chance.of('keep', 'keep', 'keep', 'evict', 'remove'),
      failedAt: chance.is(0.75) ? undefined : new Date(NOON.getTime() - failedAgoSeconds * 1000),
      rebuildRetryCount: chance.of(0, 0, 5),
    });
  });
}

/** Other values for some of the settings that placement reads. */
export function randomSettings(chance: Chance): FleetView['settings'] {
  return effectiveSettings({
    'balance-alpha': chance.of(1, 0, chance.next()),
    'storage-over-provisioning-percentage': chance.of(100, 150),
    'storage-minimal-available-percentage': chance.of(0, 25),
    'allow-empty-disk-selector-volume': chance.is(0.5),
  });
}
