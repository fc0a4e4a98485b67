/**
 * Refusals by candidate: which rule refused each one. Runs only when nothing fitted, so that a placement that succeeds
 * never pays for words.
 */
import type { StorageDisk, StorageNode } from '../../model/node.js';
import { wordsOf } from '../filters/rules.js';
import type { CandidateRefusal, Check, PlacementCycle, Rejection } from '../framework/framework.js';
import type { Occupancy } from '../framework/occupancy.js';
import { nodeHasDiskRule } from '../framework/sharing-rules.js';
import { rejectionBySharing } from '../tiers/disk-anti-affinity.js';
import { rejectionByTiers, type Tier } from '../tiers/tiers.js';

export type CycleChecks = {
  readonly checkNode: Check<StorageNode>;
  readonly checkNodeTags: Check<StorageNode>;
  readonly checkDisk: Check<StorageDisk>;
};

/** Messages name at most this many candidates each: a condition is read by users, the counts tell the rest. */
const NAMED_MAX = 12;

export function explainRefusal(
  cycle: PlacementCycle,
  checks: CycleChecks,
  tiers: readonly Tier[],
  occupancy: Occupancy,
): CandidateRefusal[] {
  const onTiers = new Set(tiers.flatMap(({ nodes }) => nodes));
  return cycle.fleet.nodes.flatMap((node) => {
    const disks = cycle.disksByNode.get(node.id) ?? [];
    // A tier may hold a node whose tags do not match (a used-node tier that does not mind them): then its disks were asked.
    const rejection =
      checks.checkNode(node) ??
      (onTiers.has(node) ? undefined : (checks.checkNodeTags(node) ?? rejectionByTiers(node, occupancy)));
    if (disks.length === 0) return [refusal(node, undefined, rejection ?? nodeWithoutDisk(node))];
    // A disk that passes its own filters was refused for the replica that it holds already.
    return disks.map((disk) =>
      refusal(node, disk, rejection ?? checks.checkDisk(disk) ?? rejectionBySharing(disk)),
    );
  });
}

function refusal(node: StorageNode, disk: StorageDisk | undefined, rejection: Rejection): CandidateRefusal {
  return { nodeId: node.id, nodeName: node.name, diskId: disk?.id, diskName: disk?.name, rejection };
}

export function nodeWithoutDisk(node: StorageNode): Rejection {
  return {
    rule: nodeHasDiskRule.name,
    reason: 'NodeWithoutDisk',
    message: `node ${node.name} has no disk`,
    cure: `add a disk to ${node.name}`,
  };
}

/** A refusal in words: what stopped how many disks, then each candidate with its numbers, then what would cure it. */
export function describeRefusals(refusals: readonly CandidateRefusal[]): string {
  if (refusals.length === 0) return NO_NODE;
  const named = refusals.slice(0, NAMED_MAX).map(describeOne);
  const rest = refusals.length - named.length;
  const details = [...named, ...(rest > 0 ? [`${rest} more`] : [])].join('; ');
  return `${summarizeRefusals(refusals)}. ${details}. To cure: ${curesOf(refusals).slice(0, NAMED_MAX).join('; or ')}.`;
}

const NO_NODE = 'the cluster has no node';

/** How many disks each reason refused, the most frequent first: what a list has room for. */
export function summarizeRefusals(refusals: readonly CandidateRefusal[]): string {
  if (refusals.length === 0) return NO_NODE;
  const counts = new Map<string, number>();
  for (const { rejection } of refusals) {
    counts.set(rejection.reason, (counts.get(rejection.reason) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([reason, count]) => `${wordsOf(reason).summary} on ${count} of ${refusals.length} disks`)
    .join('; ');
}

/** What would change the answer, most frequent first, without repetition. */
export function curesOf(refusals: readonly CandidateRefusal[]): string[] {
  const counts = new Map<string, number>();
  for (const { rejection } of refusals) counts.set(rejection.cure, (counts.get(rejection.cure) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([cure]) => cure);
}

function describeOne({ nodeName, diskName, rejection }: CandidateRefusal): string {
  const place = diskName === undefined ? nodeName : `${nodeName}/${diskName}`;
  return `${place}: ${rejection.reason} (${rejection.message})`;
}
