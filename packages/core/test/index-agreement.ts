/**
 * The index against the two paths that it must agree with: the linear `placeReplica`, disk for disk, and the quadratic
 * definition of the balance proposal, score for score. Each fleet is made by chance, and so is each decision.
 */

import { NOON } from '@holdfast/testkit/builders.js';
import {
  Chance,
  randomDisk,
  randomFleet,
  randomNode,
  randomRequest,
  randomScale,
  randomSettings,
  randomUniformFleet,
  type Scale,
} from '@holdfast/testkit/random-fleet.js';
import type { StorageDisk } from '../src/model/node.js';
import type { FleetView } from '../src/model/views.js';
import type { Placement } from '../src/scheduling/framework/framework.js';
import type { PlacementRequest } from '../src/scheduling/framework/placement-request.js';
import { checkFleetIndex } from '../src/scheduling/index/check-fleet-index.js';
import { buildFleetIndex, type FleetIndex } from '../src/scheduling/index/fleet-index.js';
import { placeReplica } from '../src/scheduling/placement/place-replica.js';
import { withBooking } from '../src/scheduling/placement/plan-placements.js';
import { HOLDFAST_PROFILE } from '../src/scheduling/placement/profile.js';
import { afterPlacing, type Capacity, hybridScore } from '../src/scheduling/tiers/balance-score.js';
import { totalBytes, usableBytes } from '../src/scheduling/tiers/usable-space.js';

export const DECISIONS_PER_FLEET = 17;
/** Doubles summed in another order differ by less. */
const TOLERANCE = 1e-9;

/** How often each tier was decided by, and each score compared. */
export type Seen = Map<string, number>;

/** @returns what the paths disagree about in the decisions on fleets of these seeds; `undefined` where nothing */
export function disagreementOn(first: number, last: number, seen: Seen): string | undefined {
  for (let seed = first; seed <= last; seed += 1) {
    const problem = runFleet(seed, seen);
    if (problem !== undefined) return `fleet of seed ${seed}: ${problem}`;
  }
  return undefined;
}

/** Names of what was decided too seldom to mean anything. */
export function tooSeldom(seen: Seen, least: number): string[] {
  return [
    'unused-node-in-unused-zone',
    'unused-node-in-leaving-zone',
    'leaving-node-in-leaving-zone',
    'unused-node',
    'leaving-node',
    'used-node',
    'none',
    'scored',
  ].filter((tier) => (seen.get(tier) ?? 0) < least);
}

function runFleet(seed: number, seen: Map<string, number>): string | undefined {
  const chance = new Chance(seed);
  const scale = randomScale(chance);
  // Every third fleet is of like nodes, and stays so but for a disk that is now and then of another size.
  const isUniform = seed % 3 === 0;
  let view = isUniform ? randomUniformFleet(chance, scale) : randomFleet(chance, scale);
  const index = buildFleetIndex(view);
  for (let decision = 0; decision < DECISIONS_PER_FLEET; decision += 1) {
    const request = randomRequest(chance, scale, view);
    const linear = placeReplica(request, view, NOON);
    const fast = index.place(request, NOON);
    seen.set(
      fast.kind === 'none' ? 'none' : fast.tier,
      (seen.get(fast.kind === 'none' ? 'none' : fast.tier) ?? 0) + 1,
    );
    const problem = disagreement(linear, fast) ?? wrongScore(linear, request, view, seen);
    if (problem !== undefined) return `decision ${decision}: ${problem}`;
    const bookedId = fast.kind === 'placed' && chance.is(0.8) ? fast.diskId : undefined;
    if (bookedId !== undefined) view = book(view, index, bookedId, request.sizeBytes);
    view = isUniform ? resize(chance, view, index) : change(chance, scale, view, index);
  }
  return checkFleetIndex(index, view)[0] ?? orderMatters(chance, scale, view);
}

function disagreement(linear: Placement, fast: ReturnType<FleetIndex['place']>): string | undefined {
  const want = linear.kind === 'placed' ? `${linear.nodeId} ${linear.diskId} ${linear.tier}` : 'none';
  const have = fast.kind === 'placed' ? `${fast.nodeId} ${fast.diskId} ${fast.tier}` : 'none';
  return want === have ? undefined : `the linear path says ${want}, the index ${have}`;
}

/** The definition: every option simulated, every score from all values. Overdrawn disks have rules of their own. */
function wrongScore(
  placement: Placement,
  request: PlacementRequest,
  view: FleetView,
  seen: Map<string, number>,
): string | undefined {
  if (placement.kind !== 'placed') return undefined;
  const all = view.disks.filter(({ id }) => placement.candidates.includes(id));
  const isLocal = placement.nodeId === request.localNodeId;
  const disks = isLocal ? all.filter(({ nodeId }) => nodeId === request.localNodeId) : all;
  const holds = (disk: StorageDisk) => usableBytes(disk, HOLDFAST_PROFILE) >= request.sizeBytes;
  if (isLocal || disks.length < 2 || !disks.some(holds)) return undefined;
  seen.set('scored', (seen.get('scored') ?? 0) + 1);

  const alpha = view.settings['balance-alpha'];
  const nodeIds = [...new Set(disks.map(({ nodeId }) => nodeId))];
  const onNode = nodeIds.map((nodeId) => disks.filter((disk) => disk.nodeId === nodeId));
  const nodeLoss = lossOf(
    onNode.map(sumOf),
    onNode.map((own) => own.some(holds)),
    nodeIds.indexOf(placement.nodeId),
  );
  if (nodeLoss(request.sizeBytes, alpha) > TOLERANCE)
    return `node ${placement.nodeId} does not have the best score`;

  const siblings = disks.filter(({ nodeId }) => nodeId === placement.nodeId);
  const chosen = siblings.findIndex(({ id }) => id === placement.diskId);
  if (request.diskChoice === 'pack') return notTightest(siblings, chosen, request.sizeBytes);
  const diskLoss = lossOf(siblings.map(capacityOf), siblings.map(holds), chosen);
  return diskLoss(request.sizeBytes, alpha) > TOLERANCE
    ? `disk ${placement.diskId} is not the best`
    : undefined;
}

/** By how much the chosen option's score is above the lowest, relative to it. */
function lossOf(values: Capacity[], eligible: boolean[], chosen: number) {
  return (sizeBytes: number, alpha: number): number => {
    if (eligible[chosen] !== true) return Number.POSITIVE_INFINITY;
    const scores = values.map((_, index) =>
      eligible[index] === true
        ? hybridScore(afterPlacing(values, index, sizeBytes), alpha)
        : Number.POSITIVE_INFINITY,
    );
    const lowest = Math.min(...scores);
    const score = scores[chosen] ?? Number.NaN;
    return score === lowest ? 0 : (score - lowest) / Math.max(1, Math.abs(lowest));
  };
}

function notTightest(disks: StorageDisk[], chosen: number, sizeBytes: number): string | undefined {
  const usable = disks.map((disk) => usableBytes(disk, HOLDFAST_PROFILE));
  const tightest = Math.min(...usable.filter((bytes) => bytes >= sizeBytes));
  return usable[chosen] === tightest
    ? undefined
    : 'pack did not take the fullest disk that holds the replica';
}

const capacityOf = (disk: StorageDisk): Capacity => ({
  usableBytes: Math.max(0, usableBytes(disk, HOLDFAST_PROFILE)),
  totalBytes: totalBytes(disk),
});

function sumOf(disks: readonly StorageDisk[]): Capacity {
  const parts = disks.map(capacityOf);
  return {
    usableBytes: parts.reduce((sum, part) => sum + part.usableBytes, 0),
    totalBytes: parts.reduce((sum, part) => sum + part.totalBytes, 0),
  };
}

function book(view: FleetView, index: FleetIndex, diskId: StorageDisk['id'], sizeBytes: number): FleetView {
  index.book(diskId, { sizeBytes, writtenBytes: 0 });
  return withBooking(view, diskId, sizeBytes);
}

function resize(chance: Chance, view: FleetView, index: FleetIndex): FleetView {
  const disk = view.disks[chance.below(view.disks.length)];
  if (disk === undefined || chance.is(0.9)) return view;
  const bytes = disk.storageMaximumBytes * chance.of(1, 1.5);
  const next = { ...disk, storageMaximumBytes: bytes, storageAvailableBytes: bytes };
  index.putDisk(next);
  return { ...view, disks: view.disks.map((other) => (other.id === next.id ? next : other)) };
}

/** Something happens to the fleet, to the view and to the index alike. */
function change(chance: Chance, scale: Scale, view: FleetView, index: FleetIndex): FleetView {
  let { nodes, disks, settings } = view;
  const node = nodes[chance.below(nodes.length)];
  const disk = disks[chance.below(disks.length)];
  if (node !== undefined && chance.is(0.2)) {
    const next = {
      ...randomNode(chance, node.name),
      ...(chance.is(0.5) ? { zone: node.zone, tags: node.tags } : {}),
    };
    index.putNode(next);
    nodes = nodes.map((other) => (other.id === next.id ? next : other));
  }
  if (disk !== undefined && chance.is(0.3)) {
    const next = { ...randomDisk(chance, scale, disk.nodeId, 'd'), id: disk.id };
    index.putDisk(next);
    disks = disks.map((other) => (other.id === next.id ? next : other));
  }
  if (disk !== undefined && chance.is(0.03)) {
    index.removeDisk(disk.id);
    disks = disks.filter(({ id }) => id !== disk.id);
  }
  if (node !== undefined && chance.is(0.05)) {
    const next = randomDisk(chance, scale, node.id, `new${chance.below(3)}`);
    index.putDisk(next);
    disks = [...disks.filter(({ id }) => id !== next.id), next];
  }
  if (chance.is(0.04)) {
    settings = randomSettings(chance);
    index.useSettings(settings, view.settingsVersion);
  }
  return { ...view, settings, nodes, disks };
}

/** The order in which a view lists its nodes and disks means nothing, to either path. */
function orderMatters(chance: Chance, scale: Scale, view: FleetView): string | undefined {
  const request = randomRequest(chance, scale, view);
  const shuffled = { ...view, nodes: chance.shuffled(view.nodes), disks: chance.shuffled(view.disks) };
  const turned = { ...request, replicas: chance.shuffled(request.replicas) };
  const before = placeReplica(request, view, NOON);
  const after = placeReplica(turned, shuffled, NOON);
  const outcome = (placement: Placement) => (placement.kind === 'placed' ? placement.diskId : 'none');
  if (outcome(before) !== outcome(after)) return 'the linear path depends on the order of its input';
  return disagreement(before, buildFleetIndex(shuffled).place(turned, NOON));
}
