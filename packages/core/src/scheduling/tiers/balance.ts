/**
 * The last step of a placement: of the disks that passed everything, the one that leaves usable space most evenly
 * spread, first over the nodes, then over the disks of the chosen node (`pack`: the fullest disk that holds it).
 *
 * With α = 1 the mean is the same for every option and taking from the fullest never widens the range, so the node
 * with the most usable space and then its disk with the most is always optimal: a plain maximum, in whole bytes. For
 * other α each option's score needs only the two largest values and the smallest, so the whole choice is linear.
 * `balance-score.ts` holds the definition that tests compare with; `index/` finds the same answer faster.
 */
import { compareIds, type DiskId, type NodeId } from '../../model/ids.js';
import type { StorageDisk } from '../../model/node.js';
import type { DiskChoice } from '../../model/volume.js';
import type { SchedulingProfile } from '../framework/framework.js';
import type { Capacity } from './balance-score.js';
import { CapacitySummary } from './capacity-summary.js';
import { totalBytes, usableBytes } from './usable-space.js';

/** Scores closer than this are one score: equal options may differ by what dividing rounds. */
const SCORE_TOLERANCE = 1e-12;

/** A node or disk to choose from. `eligible`: it can hold the whole replica. */
export type Option<Id extends string> = Capacity & { readonly id: Id; readonly eligible: boolean };
export type DiskOption = Option<DiskId> & { readonly nodeId: NodeId };

/** What is to be placed, and by which rule. */
export type BalanceRule = {
  readonly sizeBytes: number;
  readonly alpha: number;
  readonly diskChoice: DiskChoice;
};

/** @param disks at least one */
export function chooseBalanced(
  disks: readonly StorageDisk[],
  rule: BalanceRule,
  profile: SchedulingProfile,
): DiskId | undefined {
  const options = disks.map((disk): DiskOption => {
    const usable = usableBytes(disk, profile);
    return {
      id: disk.id,
      nodeId: disk.nodeId,
      usableBytes: usable,
      totalBytes: totalBytes(disk),
      eligible: usable >= rule.sizeBytes,
    };
  });
  return chooseFromOptions(options, rule);
}

/** @param options with their signed usable bytes; at least one */
export function chooseFromOptions(options: readonly DiskOption[], rule: BalanceRule): DiskId | undefined {
  // Thin provisioning is lawful: when nothing holds the whole size, the space formulas have decided already, and the
  // disk that is least overdrawn is the safest.
  if (!options.some(({ eligible }) => eligible)) return mostUsable(options)?.id;

  const balanced = options.map((option) => ({ ...option, usableBytes: Math.max(0, option.usableBytes) }));
  const node = lowestScore(sumByNode(balanced), rule);
  return chooseDisk(
    balanced.filter(({ nodeId }) => nodeId === node?.id),
    rule,
  )?.id;
}

/**
 * Of the disks of one node, the one for the replica.
 *
 * `pack` ignores the score: it fills one disk after the other, so that large volumes find a disk with room for long.
 */
export function chooseDisk<Id extends string>(
  disks: readonly Option<Id>[],
  rule: BalanceRule,
): Option<Id> | undefined {
  if (rule.diskChoice === 'spread') return lowestScore(disks, rule);
  let best: Option<Id> | undefined;
  for (const disk of disks) {
    if (disk.eligible && (best === undefined || isTighter(disk, best))) best = disk;
  }
  return best;
}

function isTighter<Id extends string>(a: Option<Id>, b: Option<Id>): boolean {
  return a.usableBytes < b.usableBytes || (a.usableBytes === b.usableBytes && compareIds(a.id, b.id) < 0);
}

/** A node is eligible when one of its disks can hold the whole replica: what is spread over disks can't. */
function sumByNode(disks: readonly DiskOption[]): Option<NodeId>[] {
  const nodes = new Map<NodeId, Option<NodeId>>();
  for (const disk of disks) {
    const sum = nodes.get(disk.nodeId);
    nodes.set(disk.nodeId, {
      id: disk.nodeId,
      usableBytes: (sum?.usableBytes ?? 0) + disk.usableBytes,
      totalBytes: (sum?.totalBytes ?? 0) + disk.totalBytes,
      eligible: (sum?.eligible ?? false) || disk.eligible,
    });
  }
  return [...nodes.values()];
}

function lowestScore<Id extends string>(
  options: readonly Option<Id>[],
  { sizeBytes, alpha }: BalanceRule,
): Option<Id> | undefined {
  const eligible = options.filter((option) => option.eligible);
  if (alpha === 1 || eligible.length < 2) return mostUsable(eligible);

  const summary = new CapacitySummary();
  for (const option of options) summary.add(option.usableBytes, option.totalBytes);
  const scores = eligible.map((option) =>
    summary.scoreAfterPlacing(option.usableBytes, option.totalBytes, sizeBytes, alpha),
  );
  const limit = toleratedScore(
    scores.reduce((least, score) => Math.min(least, score), Number.POSITIVE_INFINITY),
  );
  return mostUsable(eligible.filter((_, index) => (scores[index] ?? 0) <= limit));
}

/** Up to which score an option counts as equal to the best one. */
export function toleratedScore(lowest: number): number {
  return lowest + Math.abs(lowest) * SCORE_TOLERANCE + SCORE_TOLERANCE;
}

function mostUsable<Id extends string>(options: readonly Option<Id>[]): Option<Id> | undefined {
  let best: Option<Id> | undefined;
  for (const option of options) {
    if (best === undefined || isMoreUsable(option, best)) best = option;
  }
  return best;
}

export function isMoreUsable<Id extends string>(a: Option<Id>, b: Option<Id>): boolean {
  return a.usableBytes > b.usableBytes || (a.usableBytes === b.usableBytes && compareIds(a.id, b.id) < 0);
}
