/**
 * The scores behind a choice, by the definition (`balance-score.ts`): of each node among the nodes, then of each disk
 * among its node's disks. Only for users: the choice itself is the scheduler's.
 */
import { compareIds, type DiskId, type NodeId } from '../../model/ids.js';
import type { StorageDisk } from '../../model/node.js';
import type { PlacementCycle } from '../framework/framework.js';
import { afterPlacing, type Capacity, hybridScore } from '../tiers/balance-score.js';
import { preferLocal } from '../tiers/locality.js';
import { totalBytes, usableBytes } from '../tiers/usable-space.js';
import { SCORES_SHOWN_MAX, type ScoredCandidate, type ScoreParts } from './explanation.js';
import { namedPlace } from './named-place.js';

/**
 * Nodes that are scored: those with most usable bytes and those with the largest usable share, among which the best is
 * for any α. The definition looks at every node for each of them, so that scoring them all would be quadratic.
 */
const NODES_SCORED_MAX = 32;

/** `usableBytes` as the choice counts them: an overdrawn disk has nothing. `signedBytes` tells by how much. */
type SignedCapacity = Capacity & { readonly signedBytes: number };
type Option<Id extends string> = SignedCapacity & { readonly id: Id };
type NodeOption = Option<NodeId> & { readonly disks: readonly StorageDisk[] };

/** Best first, the chosen disk before all others. */
export function scoreCandidates(
  cycle: PlacementCycle,
  candidates: readonly StorageDisk[],
  chosenId: DiskId | undefined,
): readonly ScoredCandidate[] {
  const nodes = sumByNode(cycle, preferLocal(cycle.request, candidates));
  const chosenNodeId = candidates.find(({ id }) => id === chosenId)?.nodeId;
  const scored = scorable(nodes, chosenNodeId)
    .map((node) => ({ node, parts: partsOf(nodes, nodes.indexOf(node), cycle) }))
    .sort((a, b) => rank(a.node.id, b.node.id, chosenNodeId) || compareParts(a.parts, b.parts))
    .slice(0, SCORES_SHOWN_MAX);
  return scored
    .flatMap(({ node, parts }) => disksOf(node, parts, chosenId, cycle))
    .sort((a, b) => Number(b.isChosen) - Number(a.isChosen))
    .slice(0, SCORES_SHOWN_MAX);
}

function disksOf(
  { disks }: NodeOption,
  node: ScoreParts,
  chosenId: DiskId | undefined,
  cycle: PlacementCycle,
): ScoredCandidate[] {
  const options = disks.map((disk) => toOption(disk, cycle));
  return disks
    .map((disk, index) => ({ disk, parts: partsOf(options, index, cycle) }))
    .sort(
      (a, b) =>
        rank(a.disk.id, b.disk.id, chosenId) ||
        compareParts(a.parts, b.parts) ||
        compareIds(a.disk.id, b.disk.id),
    )
    .slice(0, SCORES_SHOWN_MAX)
    .map(({ disk, parts }) => ({
      ...namedPlace(disk, cycle.nodesById),
      isChosen: disk.id === chosenId,
      node,
      disk: parts,
    }));
}

function partsOf(options: readonly SignedCapacity[], index: number, cycle: PlacementCycle): ScoreParts {
  const { sizeBytes } = cycle.request;
  const alpha = cycle.fleet.settings['balance-alpha'];
  const usableBeforeBytes = options[index]?.signedBytes ?? 0;
  const after = afterPlacing(options, index, sizeBytes);
  const absolute = finite(hybridScore(after, 1));
  const ratio = finite(hybridScore(after, 0));
  return {
    usableBeforeBytes,
    usableAfterBytes: usableBeforeBytes - sizeBytes,
    absolute,
    ratio,
    score: alpha * absolute + (1 - alpha) * ratio,
  };
}

/** Without a positive mean no option is better than another, which is what an even score says. */
function finite(score: number): number {
  return Number.isFinite(score) ? score : 0;
}

function compareParts(a: ScoreParts, b: ScoreParts): number {
  return a.score - b.score || b.usableBeforeBytes - a.usableBeforeBytes;
}

function rank<Id extends string>(a: Id, b: Id, first: Id | undefined): number {
  return Number(b === first) - Number(a === first);
}

function shareOf({ usableBytes, totalBytes }: Capacity): number {
  return usableBytes / Math.max(1, totalBytes);
}

function scorable(nodes: readonly NodeOption[], chosenId: NodeId | undefined): readonly NodeOption[] {
  if (nodes.length <= NODES_SCORED_MAX) return nodes;
  const byBytes = [...nodes].sort((a, b) => b.usableBytes - a.usableBytes || compareIds(a.id, b.id));
  const byShare = [...nodes].sort((a, b) => shareOf(b) - shareOf(a) || compareIds(a.id, b.id));
  const half = NODES_SCORED_MAX / 2;
  const chosen = nodes.filter(({ id }) => id === chosenId);
  return [...new Set([...chosen, ...byBytes.slice(0, half), ...byShare.slice(0, half)])];
}

function sumByNode(cycle: PlacementCycle, disks: readonly StorageDisk[]): readonly NodeOption[] {
  const nodes = new Map<NodeId, NodeOption>();
  for (const disk of disks) {
    const option = toOption(disk, cycle);
    const sum = nodes.get(disk.nodeId);
    nodes.set(disk.nodeId, {
      id: disk.nodeId,
      usableBytes: (sum?.usableBytes ?? 0) + option.usableBytes,
      signedBytes: (sum?.signedBytes ?? 0) + option.signedBytes,
      totalBytes: (sum?.totalBytes ?? 0) + option.totalBytes,
      disks: [...(sum?.disks ?? []), disk],
    });
  }
  return [...nodes.values()];
}

function toOption(disk: StorageDisk, { profile }: PlacementCycle): Option<DiskId> {
  const signedBytes = usableBytes(disk, profile);
  return { id: disk.id, usableBytes: Math.max(0, signedBytes), signedBytes, totalBytes: totalBytes(disk) };
}
