// How full a cluster gets before the first volume can't be placed: volumes of three replicas and 10 to 500 GiB, nodes
// required to differ, zones preferred, over-provisioning 100 %, no reserve, no minimum of free space, nothing written.
//
// "The possible" is the largest total that any placement of three replicas on three nodes could book: the sum of the
// nodes' capacities, where no node counts for more than a third of what is booked (it holds one replica of a volume at
// most). It ignores that replicas are indivisible, so nothing reaches 100 %. Disks are so large that the old rule (most
// usable disk) ends about where it was measured to end on such clusters; with smaller disks less fits, by every rule.

import { afterPlacing, hybridScore } from '../../packages/core/dist/scheduling/balance-score.js';
import { buildFleetIndex } from '../../packages/core/dist/scheduling/index/fleet-index.js';
import { GIB, makeDisk, makeNode, makeReplica, makeRequest, makeView, mulberry32, NOW } from './fleets.mjs';
import { report } from './report.mjs';

const REPLICAS = 3;
const SEEDS = 24;

const SHAPES = [
  { name: '12 mixed nodes, 3 zones', make: mixedNodes, target: 97 },
  { name: '5 unequal zones', make: unequalZones, target: 97 },
  { name: 'two generations', make: twoGenerations, target: 97 },
  { name: 'a few big nodes', make: fewBigNodes, target: 95 },
];

const POLICIES = [
  { name: 'balance α=0', alpha: 0, diskChoice: 'spread' },
  { name: 'spread, α=1', alpha: 1, diskChoice: 'spread' },
  { name: 'pack, α=1', alpha: 1, diskChoice: 'pack' },
];

export async function run({ quick }) {
  const seeds = quick ? 4 : SEEDS;
  for (const { name, make, target } of SHAPES) {
    const row = { bench: 'fill', case: name, unit: '% of the possible' };
    const baseline = mean(seeds, (seed) => fill(make(mulberry32(seed)), mostUsableDisk, seed));
    report({ ...row, metric: 'most usable disk', value: baseline });
    const defined = mean(seeds, (seed) => fill(make(mulberry32(seed)), byDefinition, seed));
    report({ ...row, metric: 'balance α=1, as defined', value: defined, baseline });
    for (const policy of POLICIES) {
      const value = mean(seeds, (seed) => fill(make(mulberry32(seed)), byIndex(policy), seed));
      const wanted = {
        pack: { target },
        spread: policy.alpha === 1 ? { target: Math.floor(defined * 10) / 10 } : {},
      };
      report({ ...row, metric: policy.name, value, baseline, ...wanted[policy.diskChoice] });
    }
  }
}

/** Places volumes until one does not fit. Returns the bytes of whole volumes as a share of the possible. */
function fill(shape, makePlacer, seed) {
  const random = mulberry32(seed + 1000);
  const placer = makePlacer(shape);
  let bookedGib = 0;
  for (;;) {
    const sizeGib = 10 + Math.floor(random() * 491);
    const replicas = [];
    while (replicas.length < REPLICAS) {
      const disk = placer(sizeGib * GIB, replicas);
      if (disk === undefined) return (100 * bookedGib) / possibleGib(shape);
      replicas.push(makeReplica(`r${replicas.length}`, disk, sizeGib * GIB));
    }
    bookedGib += REPLICAS * sizeGib;
  }
}

function byIndex({ alpha, diskChoice }) {
  return ({ nodes, disks }) => {
    const settings = { 'storage-minimal-available-percentage': 0, 'balance-alpha': alpha };
    const index = buildFleetIndex(makeView(nodes, disks, settings));
    const diskById = new Map(disks.map((disk) => [disk.id, disk]));
    return (sizeBytes, replicas) => {
      const placement = index.place(makeRequest(sizeBytes, { diskChoice, replicas }), NOW);
      if (placement.kind === 'none') return undefined;
      index.book(placement.diskId, { sizeBytes, writtenBytes: 0 });
      return diskById.get(placement.diskId);
    };
  };
}

/** The rule before balance: the disk with the most space, in an unused zone where one has room. */
function mostUsableDisk(shape) {
  return byRule(shape, (candidates, left) => mostOf(candidates, ({ id }) => left.get(id)));
}

/**
 * The balance score as the proposal defines it, every option evaluated: first the nodes, then the node's disks. Of
 * equal scores, which are frequent, the most usable option wins, as in the scheduler.
 */
function byDefinition(shape) {
  return byRule(shape, (candidates, left, sizeBytes) => {
    const capacity = (disks) => ({
      usableBytes: disks.reduce((sum, { id }) => sum + left.get(id), 0),
      totalBytes: 0,
    });
    const best = (options) => {
      const values = options.map(capacity);
      const scores = values.map((_, at) => hybridScore(afterPlacing(values, at, sizeBytes), 1));
      const equal = options.filter((_, at) => scores[at] <= Math.min(...scores) + 1e-12);
      return mostOf(equal, (disks) => capacity(disks).usableBytes);
    };
    const nodeIds = [...new Set(candidates.map(({ nodeId }) => nodeId))];
    const onNode = best(nodeIds.map((id) => candidates.filter(({ nodeId }) => nodeId === id)));
    return best(onNode.map((disk) => [disk]))[0];
  });
}

/**
 * The filters that matter here, and then a rule: disks with room on unused nodes, in unused zones if there are some.
 */
function byRule({ nodes, disks }, choose) {
  const zoneOf = new Map(nodes.map(({ id, zone }) => [id, zone]));
  const left = new Map(disks.map(({ id, storageMaximumBytes }) => [id, storageMaximumBytes]));
  return (sizeBytes, replicas) => {
    const usedNodes = new Set(replicas.map(({ nodeId }) => nodeId));
    const usedZones = new Set([...usedNodes].map((id) => zoneOf.get(id)));
    const unused = disks.filter(({ id, nodeId }) => !usedNodes.has(nodeId) && left.get(id) >= sizeBytes);
    const apart = unused.filter(({ nodeId }) => !usedZones.has(zoneOf.get(nodeId)));
    const candidates = apart.length > 0 ? apart : unused;
    if (candidates.length === 0) return undefined;
    const best = choose(candidates, left, sizeBytes);
    left.set(best.id, left.get(best.id) - sizeBytes);
    return best;
  };
}

/** The item of largest worth; the first of several. */
function mostOf(items, worthOf) {
  return items.reduce((most, item) => (worthOf(item) > worthOf(most) ? item : most));
}

/**
 * The possible, in GiB: the largest T with Σ min(node, T / 3) = T, as no node may hold more than one replica in three.
 */
function possibleGib({ nodes, disks }) {
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

function mean(seeds, measure) {
  let sum = 0;
  for (let seed = 1; seed <= seeds; seed += 1) sum += measure(seed);
  return sum / seeds;
}

/** Four nodes in each zone, with one to six disks of three sizes. */
function mixedNodes(random) {
  return shapeOf(
    Array.from({ length: 12 }, (_, n) => ({
      zone: `zone-${n % 3}`,
      disksGib: Array.from({ length: 2 + Math.floor(random() * 5) }, () => pick(random, [1000, 2000, 4000])),
    })),
  );
}

/** Zones of two to six nodes, equal but for what disks were bought. */
function unequalZones(random) {
  return shapeOf(
    [2, 3, 4, 5, 6].flatMap((count, zone) =>
      Array.from({ length: count }, () => ({
        zone: `zone-${zone}`,
        disksGib: Array.from({ length: 3 + Math.floor(random() * 3) }, () => pick(random, [2000, 4000])),
      })),
    ),
  );
}

/** Nine old nodes with small disks, nine new ones with disks four times as large. */
function twoGenerations(random) {
  return shapeOf(
    Array.from({ length: 18 }, (_, n) => ({
      zone: `zone-${n % 3}`,
      disksGib: Array.from({ length: 3 + Math.floor(random() * 2) }, () => (n < 9 ? 2000 : 8000)),
    })),
  );
}

/** Three nodes with eight large disks among seven with two or three small ones. */
function fewBigNodes(random) {
  return shapeOf(
    Array.from({ length: 10 }, (_, n) => ({
      zone: `zone-${n % 3}`,
      disksGib:
        n < 3
          ? Array.from({ length: 8 }, () => 4000)
          : Array.from({ length: 2 + Math.floor(random() * 2) }, () => pick(random, [1000, 2000])),
    })),
  );
}

function shapeOf(parts) {
  const nodes = parts.map(({ zone }, n) => makeNode(`node-${n}`, { zone }));
  const disks = parts.flatMap(({ disksGib }, n) =>
    disksGib.map((gib, d) => makeDisk(`disk-${n}-${d}`, `node-${n}`, gib * GIB)),
  );
  return { nodes, disks };
}

function pick(random, items) {
  return items[Math.floor(random() * items.length)];
}
