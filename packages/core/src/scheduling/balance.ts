/**
 * The last step of a placement: of the disks that passed everything, the one that leaves usable space most evenly
 * spread, first over the nodes, then over the disks of the chosen node.
 *
 * With α = 1 the mean is the same for every option and taking from the fullest never widens the range, so the node
 * with the most usable space and then its disk with the most is always optimal: a plain maximum, in whole bytes. For
 * other α each option's score needs only the two largest and two smallest values of the others, so the whole choice is
 * linear. `balance-score.ts` holds the definition that tests compare with.
 */
import { compareIds, type DiskId, type NodeId } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import { type Capacity, usableShare } from './balance-score.js';
import type { SchedulingProfile } from './profile.js';
import { totalBytes, usableBytes } from './space.js';

/** Scores closer than this are one score: summing doubles in another order differs by less. */
const SCORE_TOLERANCE = 1e-12;

type Option<Id extends string> = Capacity & { readonly id: Id; readonly eligible: boolean };
type DiskOption = Option<DiskId> & { readonly nodeId: NodeId };

/** @param disks at least one */
export function chooseBalanced(
  disks: readonly StorageDisk[],
  sizeBytes: number,
  alpha: number,
  profile: SchedulingProfile,
): DiskId | undefined {
  const options = disks.map((disk): DiskOption => {
    const usable = usableBytes(disk, profile);
    return {
      id: disk.id,
      nodeId: disk.nodeId,
      usableBytes: usable,
      totalBytes: totalBytes(disk),
      eligible: usable >= sizeBytes,
    };
  });
  // Thin provisioning is lawful: when nothing holds the whole size, the space formulas have decided already, and the
  // disk that is least overdrawn is the safest.
  if (!options.some(({ eligible }) => eligible)) return mostUsable(options)?.id;

  const balanced = options.map((option) => ({ ...option, usableBytes: Math.max(0, option.usableBytes) }));
  const node = lowestScore(sumByNode(balanced), sizeBytes, alpha);
  return lowestScore(
    balanced.filter(({ nodeId }) => nodeId === node?.id),
    sizeBytes,
    alpha,
  )?.id;
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
  sizeBytes: number,
  alpha: number,
): Option<Id> | undefined {
  const eligible = options.filter((option) => option.eligible);
  if (alpha === 1 || eligible.length < 2) return mostUsable(eligible);

  const scoreOf = scorer(options, sizeBytes, alpha);
  const scores = eligible.map(scoreOf);
  const lowest = scores.reduce((least, score) => Math.min(least, score), Number.POSITIVE_INFINITY);
  const limit = lowest + Math.abs(lowest) * SCORE_TOLERANCE + SCORE_TOLERANCE;
  return mostUsable(eligible.filter((_, index) => (scores[index] ?? 0) <= limit));
}

function mostUsable<Id extends string>(options: readonly Option<Id>[]): Option<Id> | undefined {
  let best: Option<Id> | undefined;
  for (const option of options) {
    if (best === undefined || isMoreUsable(option, best)) best = option;
  }
  return best;
}

function isMoreUsable<Id extends string>(a: Option<Id>, b: Option<Id>): boolean {
  return a.usableBytes > b.usableBytes || (a.usableBytes === b.usableBytes && compareIds(a.id, b.id) < 0);
}

/** Scores one option in constant time, from sums and extremes of all of them taken once. */
function scorer<Id extends string>(
  options: readonly Option<Id>[],
  sizeBytes: number,
  alpha: number,
): (option: Option<Id>) => number {
  const usable = summarize(options.map((option) => option.usableBytes));
  const shares = summarize(options.map(usableShare));

  return (option) => {
    const left = { usableBytes: option.usableBytes - sizeBytes, totalBytes: option.totalBytes };
    const absolute = scoreAfter(usable, option.usableBytes, left.usableBytes);
    const ratio = scoreAfter(shares, usableShare(option), usableShare(left));
    return alpha * absolute + (alpha === 1 ? 0 : (1 - alpha) * ratio);
  };
}

type Summary = {
  readonly sum: number;
  readonly count: number;
  /** The two largest and the two smallest values, so that any one value can be left out. */
  readonly largest: readonly [number, number];
  readonly smallest: readonly [number, number];
};

function summarize(values: readonly number[]): Summary {
  let [max, nextMax] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [min, nextMin] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let sum = 0;
  for (const value of values) {
    sum += value;
    if (value > max) [max, nextMax] = [value, max];
    else if (value > nextMax) nextMax = value;
    if (value < min) [min, nextMin] = [value, min];
    else if (value < nextMin) nextMin = value;
  }
  return { sum, count: values.length, largest: [max, nextMax], smallest: [min, nextMin] };
}

function scoreAfter(summary: Summary, before: number, after: number): number {
  const mean = (summary.sum - before + after) / summary.count;
  if (!(mean > 0)) return 0;
  const [max, nextMax] = summary.largest;
  const [min, nextMin] = summary.smallest;
  const most = Math.max(after, before === max ? nextMax : max);
  const least = Math.min(after, before === min ? nextMin : min);
  return (most - least) / mean;
}
