// How full a cluster gets before the first volume can't be placed: volumes of three replicas and 10 to 500 GiB, nodes
// required to differ, zones preferred, over-provisioning 100 %, no reserve, no minimum of free space, nothing written.
//
// "The possible" is the largest total that any placement of three replicas on three nodes could book: the sum of the
// nodes' capacities, where no node counts for more than a third of what is booked (it holds one replica of a volume at
// most). It ignores that replicas are indivisible, so nothing reaches 100 %. Disks are so large that the old rule (most
// usable disk) ends about where it was measured to end on such clusters; with smaller disks less fits, by every rule.

import { GIB } from '@holdfast/core/model/bytes.js';
import type { DiskId } from '@holdfast/core/model/ids.js';
import type { DiskChoice } from '@holdfast/core/model/volume.js';
import { buildFleetIndex } from '@holdfast/core/scheduling/index/fleet-index.js';
import { afterPlacing, hybridScore } from '@holdfast/core/scheduling/tiers/balance-score.js';
import { effectiveSettings } from '@holdfast/core/settings/effective.js';
import { aFleet, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { Chance } from '@holdfast/testkit/random-fleet.js';
import {
  type Fleet,
  type FleetDisk,
  type FleetReplica,
  itemAt,
  makeReplica,
  makeRequest,
  NOW,
} from './fleets.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

const REPLICAS = 3;
const SEEDS = 24;

/** Finds a disk for one more replica of a volume, and books it; `undefined`: there is none. */
type Placer = (sizeBytes: number, replicas: readonly FleetReplica[]) => FleetDisk | undefined;
type Policy = { readonly name: string; readonly alpha: number; readonly diskChoice: DiskChoice };
type ZonedNode = { readonly zone: string; readonly disksGib: readonly number[] };

const SHAPES = [
  { name: '12 mixed nodes, 3 zones', make: mixedNodes, target: 97 },
  { name: '5 unequal zones', make: unequalZones, target: 97 },
  { name: 'two generations', make: twoGenerations, target: 97 },
  { name: 'a few big nodes', make: fewBigNodes, target: 95 },
];

const POLICIES: readonly Policy[] = [
  { name: 'balance α=0', alpha: 0, diskChoice: 'spread' },
  { name: 'spread, α=1', alpha: 1, diskChoice: 'spread' },
  { name: 'pack, α=1', alpha: 1, diskChoice: 'pack' },
];

export async function run({ quick }: RunOptions): Promise<void> {
  const seeds = quick ? 4 : SEEDS;
  for (const { name, make, target } of SHAPES) {
    const row = { bench: 'fill', case: name, unit: '% of the possible' };
    const baseline = mean(seeds, (seed) => fill(make(new Chance(seed)), mostUsableDisk, seed));
    report({ ...row, metric: 'most usable disk', value: baseline });
    const defined = mean(seeds, (seed) => fill(make(new Chance(seed)), byDefinition, seed));
    report({ ...row, metric: 'balance α=1, as defined', value: defined, baseline });
    for (const policy of POLICIES) {
      const value = mean(seeds, (seed) => fill(make(new Chance(seed)), byIndex(policy), seed));
      const wanted = {
        pack: { target },
        spread: policy.alpha === 1 ? { target: Math.floor(defined * 10) / 10 } : {},
      };
      report({ ...row, metric: policy.name, value, baseline, ...wanted[policy.diskChoice] });
    }
  }
}

/** Places volumes until one does not fit. Returns the bytes of whole volumes as a share of the possible. */
function fill(shape: Fleet, makePlacer: (shape: Fleet) => Placer, seed: number): number {
  const random = new Chance(seed + 1000);
  const placer = makePlacer(shape);
  let bookedGib = 0;
  for (;;) {
    const sizeGib = 10 + random.below(491);
    const replicas: FleetReplica[] = [];
    while (replicas.length < REPLICAS) {
      const disk = placer(sizeGib * GIB, replicas);
      if (disk === undefined) return (100 * bookedGib) / possibleGib(shape);
      replicas.push(makeReplica(`r${replicas.length}`, disk, sizeGib * GIB));
    }
    bookedGib += REPLICAS * sizeGib;
  }
}

function byIndex({ alpha, diskChoice }: Policy): (shape: Fleet) => Placer {
  return (shape) => {
    const chosen = { 'storage-minimal-available-percentage': 0, 'balance-alpha': alpha };
    const index = buildFleetIndex({ ...shape, settings: effectiveSettings(chosen) });
    const diskById = new Map(shape.disks.map((disk) => [disk.id, disk]));
    return (sizeBytes, replicas) => {
      const placement = index.place(makeRequest(sizeBytes, { diskChoice, replicas }), NOW);
      if (placement.kind === 'none') return undefined;
      index.book(placement.diskId, { sizeBytes, writtenBytes: 0 });
      return diskById.get(placement.diskId);
    };
  };
}

/** The rule before balance: the disk with the most space, in an unused zone where one has room. */
function mostUsableDisk(shape: Fleet): Placer {
  return byRule(shape, (candidates, left) => mostOf(candidates, ({ id }) => leftOn(left, id)));
}

/**
 * The balance score as the proposal defines it, every option evaluated: first the nodes, then the node's disks. Of
 * equal scores, which are frequent, the most usable option wins, as in the scheduler.
 */
function byDefinition(shape: Fleet): Placer {
  return byRule(shape, (candidates, left, sizeBytes) => {
    const capacity = (disks: readonly FleetDisk[]) => ({
      usableBytes: disks.reduce((sum, { id }) => sum + leftOn(left, id), 0),
      totalBytes: 0,
    });
    const best = (options: readonly FleetDisk[][]) => {
      const values = options.map(capacity);
      const scores = values.map((_, at) => hybridScore(afterPlacing(values, at, sizeBytes), 1));
      const equal = options.filter((_, at) => itemAt(scores, at) <= Math.min(...scores) + 1e-12);
      return mostOf(equal, (disks) => capacity(disks).usableBytes);
    };
    const nodeIds = [...new Set(candidates.map(({ nodeId }) => nodeId))];
    const onNode = best(nodeIds.map((id) => candidates.filter(({ nodeId }) => nodeId === id)));
    return itemAt(best(onNode.map((disk) => [disk])), 0);
  });
}

/**
 * The filters that matter here, and then a rule: disks with room on unused nodes, in unused zones if there are some.
 */
function byRule(
  { nodes, disks }: Fleet,
  choose: (
    candidates: readonly FleetDisk[],
    left: ReadonlyMap<DiskId, number>,
    sizeBytes: number,
  ) => FleetDisk,
): Placer {
  const zoneOf = new Map(nodes.map(({ id, zone }) => [id, zone]));
  const left = new Map(disks.map(({ id, storageMaximumBytes }) => [id, storageMaximumBytes]));
  return (sizeBytes, replicas) => {
    const usedNodes = new Set(replicas.flatMap(({ nodeId }) => nodeId ?? []));
    const usedZones = new Set([...usedNodes].map((id) => zoneOf.get(id)));
    const unused = disks.filter(({ id, nodeId }) => !usedNodes.has(nodeId) && leftOn(left, id) >= sizeBytes);
    const apart = unused.filter(({ nodeId }) => !usedZones.has(zoneOf.get(nodeId)));
    const candidates = apart.length > 0 ? apart : unused;
    if (candidates.length === 0) return undefined;
    const best = choose(candidates, left, sizeBytes);
    left.set(best.id, leftOn(left, best.id) - sizeBytes);
    return best;
  };
}

function leftOn(left: ReadonlyMap<DiskId, number>, id: DiskId): number {
  return left.get(id) ?? 0;
}

/** The item of largest worth; the first of several. */
function mostOf<T>(items: readonly T[], worthOf: (item: T) => number): T {
  return items.reduce((most, item) => (worthOf(item) > worthOf(most) ? item : most));
}

/**
 * The possible, in GiB: the largest T with Σ min(node, T / 3) = T, as no node may hold more than one replica in three.
 */
function possibleGib({ nodes, disks }: Fleet): number {
  const capacities = nodes.map(({ id }) =>
    disks
      .filter(({ nodeId }) => nodeId === id)
      .reduce((sum, disk) => sum + disk.storageMaximumBytes / GIB, 0),
  );
  let total = capacities.reduce((sum, capacity) => sum + capacity, 0);
  for (;;) {
    const next = capacities.reduce((sum, capacity) => sum + Math.min(capacity, total / REPLICAS), 0);
    if (total - next < 1) return next;
    total = next;
  }
}

function mean(seeds: number, measure: (seed: number) => number): number {
  let sum = 0;
  for (let seed = 1; seed <= seeds; seed += 1) sum += measure(seed);
  return sum / seeds;
}

/** Four nodes in each zone, with one to six disks of three sizes. */
function mixedNodes(random: Chance): Fleet {
  return shapeOf(
    Array.from({ length: 12 }, (_, n) => ({
      zone: `zone-${n % 3}`,
      disksGib: Array.from({ length: 2 + random.below(5) }, () => pick(random, [1000, 2000, 4000])),
    })),
  );
}

/** Zones of two to six nodes, equal but for what disks were bought. */
function unequalZones(random: Chance): Fleet {
  return shapeOf(
    [2, 3, 4, 5, 6].flatMap((count, zone) =>
      Array.from({ length: count }, () => ({
        zone: `zone-${zone}`,
        disksGib: Array.from({ length: 3 + random.below(3) }, () => pick(random, [2000, 4000])),
      })),
    ),
  );
}

/** Nine old nodes with small disks, nine new ones with disks four times as large. */
function twoGenerations(random: Chance): Fleet {
  return shapeOf(
    Array.from({ length: 18 }, (_, n) => ({
      zone: `zone-${n % 3}`,
      disksGib: Array.from({ length: 3 + random.below(2) }, () => (n < 9 ? 2000 : 8000)),
    })),
  );
}

/** Three nodes with eight large disks among seven with two or three small ones. */
function fewBigNodes(random: Chance): Fleet {
  return shapeOf(
    Array.from({ length: 10 }, (_, n) => ({
      zone: `zone-${n % 3}`,
      disksGib:
        n < 3
          ? Array.from({ length: 8 }, () => 4000)
          : Array.from({ length: 2 + random.below(2) }, () => pick(random, [1000, 2000])),
    })),
  );
}

function shapeOf(parts: readonly ZonedNode[]): Fleet {
  const node = ({ zone, disksGib }: ZonedNode, n: number): NodePart => ({
    zone,
    disks: Object.fromEntries(disksGib.map((gib, d) => [`disk-${n}-${d}`, { bytes: gib * GIB }])),
  });
  return aFleet(Object.fromEntries(parts.map((part, n) => [`node-${n}`, node(part, n)])));
}

function pick(random: Chance, items: readonly number[]): number {
  return itemAt(items, random.below(items.length));
}
