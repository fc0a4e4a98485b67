/**
 * Aggregates that the score of every option needs of all options together: how many, their sums, and the two largest
 * values and the smallest, so that any one can be exchanged for a smaller one. With it one option is scored in constant
 * time.
 *
 * Sums are of whole bytes, shares are summed per capacity and in the order of the capacities: the same options give
 * the same score, bit by bit, in whatever order they come and whether one by one or a group at a time.
 */
import { shareOf } from './balance-score.js';
import { ExactSum } from './exact-sum.js';
import { ReusedObjects } from './reused-objects.js';

/** Options of one capacity, known only by their number, their sum and their extremes. */
export type CapacityGroup = {
  readonly count: number;
  readonly usableSum: ExactSum;
  readonly totalBytes: number;
  readonly largestBytes: number;
  readonly smallestBytes: number;
};

type CapacityPart = { totalBytes: number; readonly sum: ExactSum };

export class CapacitySummary {
  private count = 0;
  private readonly usable = new Extremes();
  private readonly shares = new Extremes();
  /** Made when a capacity comes out of order. */
  private byTotal: Map<number, CapacityPart> | undefined;
  private readonly parts = new ReusedObjects<CapacityPart>(() => ({ totalBytes: 0, sum: new ExactSum() }));
  private last: CapacityPart | undefined;
  private usableSum = 0;
  private shareSum = 0;
  private isAddedUp = false;

  /** Forgets the options and keeps the memory: the index asks anew for every decision. */
  clear(): void {
    this.count = 0;
    this.parts.clear();
    this.byTotal = undefined;
    this.last = undefined;
    this.isAddedUp = false;
    this.usable.clear();
    this.shares.clear();
  }

  add(usableBytes: number, totalBytes: number): void {
    this.count += 1;
    this.sumOf(totalBytes).add(usableBytes);
    this.addLarge(usableBytes, totalBytes);
    this.addSmall(usableBytes, totalBytes);
  }

  /** The caller adds the group's second largest separately, where it can matter. */
  addGroup({ count, usableSum, totalBytes, largestBytes, smallestBytes }: CapacityGroup): void {
    this.count += count;
    this.sumOf(totalBytes).addSum(usableSum);
    this.addLarge(largestBytes, totalBytes);
    this.addSmall(smallestBytes, totalBytes);
  }

  addLarge(usableBytes: number, totalBytes: number): void {
    this.usable.addLarge(usableBytes);
    this.shares.addLarge(shareOf(usableBytes, totalBytes));
  }

  /** By bytes or by share: the next largest of all may stand beside it in its group. */
  isLargest(usableBytes: number, totalBytes: number): boolean {
    return this.usable.isLargest(usableBytes) || this.shares.isLargest(shareOf(usableBytes, totalBytes));
  }

  /** The hybrid score of all options once `sizeBytes` has been placed on the one with these figures. */
  scoreAfterPlacing(usableBytes: number, totalBytes: number, sizeBytes: number, alpha: number): number {
    if (!this.isAddedUp) this.addUp();
    const leftBytes = usableBytes - sizeBytes;
    const share = shareOf(usableBytes, totalBytes);
    const leftShare = shareOf(leftBytes, totalBytes);
    const absolute = this.usable.rangeAfter(usableBytes, leftBytes) / this.mean(this.usableSum - sizeBytes);
    const ratio = this.shares.rangeAfter(share, leftShare) / this.mean(this.shareSum - share + leftShare);
    return alpha * absolute + (1 - alpha) * ratio;
  }

  private addSmall(usableBytes: number, totalBytes: number): void {
    this.usable.addSmall(usableBytes);
    this.shares.addSmall(shareOf(usableBytes, totalBytes));
  }

  /** Without a positive mean nothing is left to balance: every option is as good as any other. */
  private mean(sum: number): number {
    return sum > 0 ? sum / this.count : Number.POSITIVE_INFINITY;
  }

  /** Capacities that come in their order, as those of the index do, need no map. */
  private sumOf(totalBytes: number): ExactSum {
    const { last } = this;
    if (last?.totalBytes === totalBytes) return last.sum;
    const isNext = this.byTotal === undefined && (last === undefined || totalBytes > last.totalBytes);
    if (!isNext) this.byTotal ??= new Map(this.parts.toArray().map((part) => [part.totalBytes, part]));
    const part = this.byTotal?.get(totalBytes) ?? this.nextPart(totalBytes);
    this.byTotal?.set(totalBytes, part);
    this.last = part;
    return part.sum;
  }

  private nextPart(totalBytes: number): CapacityPart {
    const part = this.parts.take();
    part.totalBytes = totalBytes;
    part.sum.clear();
    return part;
  }

  private addUp(): void {
    const usable = new ExactSum();
    let shares = 0;
    const parts = this.parts.toArray();
    if (this.byTotal !== undefined) parts.sort((a, b) => a.totalBytes - b.totalBytes);
    for (const { totalBytes, sum } of parts) {
      usable.addSum(sum);
      shares += shareOf(sum.toNumber(), totalBytes);
    }
    this.usableSum = usable.toNumber();
    this.shareSum = shares;
    this.isAddedUp = true;
  }
}

class Extremes {
  private largest = Number.NEGATIVE_INFINITY;
  private nextLargest = Number.NEGATIVE_INFINITY;
  private smallest = Number.POSITIVE_INFINITY;

  clear(): void {
    this.largest = Number.NEGATIVE_INFINITY;
    this.nextLargest = Number.NEGATIVE_INFINITY;
    this.smallest = Number.POSITIVE_INFINITY;
  }

  addLarge(value: number): void {
    if (value > this.largest) {
      this.nextLargest = this.largest;
      this.largest = value;
    } else if (value > this.nextLargest) this.nextLargest = value;
  }

  addSmall(value: number): void {
    if (value < this.smallest) this.smallest = value;
  }

  isLargest(value: number): boolean {
    return value === this.largest;
  }

  /**
   * Largest minus smallest once one of the values has become smaller. The smallest of all then only gets smaller itself,
   * so the next one never matters.
   */
  rangeAfter(before: number, after: number): number {
    const most = Math.max(after, before === this.largest ? this.nextLargest : this.largest);
    return most - Math.min(after, this.smallest);
  }
}
