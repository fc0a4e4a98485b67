/**
 * The last step of a placement as Longhorn's code takes it: the options that leave the least difference between the
 * fullest and the emptiest, first of nodes, then of disks. A node's disks are compared with all candidate disks of all
 * nodes. Longhorn scores `(max − min) / mean`; the mean is the same for every option, so whole bytes decide.
 *
 * Longhorn breaks ties at random; `acceptableByLeastRange` lists all it may choose, and the smallest ids stand first.
 */
import { compareIds, type DiskId, type NodeId } from '../../model/ids.js';
import type { DiskSpace } from '../../policy/disk-space.js';

export type RangeCandidate = DiskSpace & { readonly id: DiskId; readonly nodeId: NodeId };
export type RangeChoice = { readonly nodeId: NodeId; readonly diskId: DiskId };

type Option = { readonly usableBytes: number };
type DiskOption = Option & RangeChoice;
type NodeOption = Option & { readonly nodeId: NodeId };

/** Every choice that Longhorn may make, sorted by node, then disk. Empty only without candidates. */
export function acceptableByLeastRange(
  disks: readonly RangeCandidate[],
  sizeBytes: number,
): readonly RangeChoice[] {
  const options = disks
    .map((disk) => ({ nodeId: disk.nodeId, diskId: disk.id, usableBytes: usableOf(disk) }))
    .sort((a, b) => compareIds(a.nodeId, b.nodeId) || compareIds(a.diskId, b.diskId));

  const chosen = new Set<DiskOption>();
  const nodes = sumByNode(options);
  const bestNodes = leastRange(nodes, nodes, sizeBytes);
  for (const node of bestNodes) {
    const own = options.filter(({ nodeId }) => nodeId === node.nodeId);
    const best = leastRange(own, options, sizeBytes);
    // A node whose space is spread over disks that are each too small: Longhorn takes any candidate then.
    for (const option of best.length > 0 ? best : options) chosen.add(option);
  }
  if (bestNodes.length === 0) return options.map(asChoice);
  return options.filter((option) => chosen.has(option)).map(asChoice);
}

/** Those of `options` that hold the size and leave the least range over `all`. */
function leastRange<T extends Option>(options: readonly T[], all: readonly Option[], sizeBytes: number): T[] {
  const total = all.reduce((sum, { usableBytes }) => sum + usableBytes, 0);
  // Longhorn's score needs a positive mean: where the placement would take all there is, nothing scores.
  if (total - sizeBytes <= 0) return [];

  const rangeAfter = rangeAfterPlacing(all, sizeBytes);
  const eligible = options.filter(({ usableBytes }) => usableBytes >= sizeBytes);
  const least = eligible.reduce((low, option) => Math.min(low, rangeAfter(option)), Number.POSITIVE_INFINITY);
  return eligible.filter((option) => rangeAfter(option) === least);
}

/** The two largest values and the smallest tell the range without any one option, so each costs constant time. */
function rangeAfterPlacing(all: readonly Option[], sizeBytes: number): (option: Option) => number {
  let [max, nextMax] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let min = Number.POSITIVE_INFINITY;
  for (const { usableBytes } of all) {
    if (usableBytes > max) [max, nextMax] = [usableBytes, max];
    else if (usableBytes > nextMax) nextMax = usableBytes;
    min = Math.min(min, usableBytes);
  }
  return ({ usableBytes }) => {
    // The smallest itself only gets smaller, so the next one never matters.
    const after = usableBytes - sizeBytes;
    return Math.max(after, usableBytes === max ? nextMax : max) - Math.min(after, min);
  };
}

function usableOf(disk: DiskSpace): number {
  return Math.max(0, disk.storageAvailableBytes - disk.storageReservedBytes - disk.storageScheduledBytes);
}

function sumByNode(options: readonly DiskOption[]): NodeOption[] {
  const sums = new Map<NodeId, number>();
  for (const { nodeId, usableBytes } of options) sums.set(nodeId, (sums.get(nodeId) ?? 0) + usableBytes);
  return [...sums].map(([nodeId, usableBytes]) => ({ nodeId, usableBytes }));
}

function asChoice({ nodeId, diskId }: DiskOption): RangeChoice {
  return { nodeId, diskId };
}
