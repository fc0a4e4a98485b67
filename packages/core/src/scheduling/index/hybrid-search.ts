/**
 * The best node for α < 1, where the share of free space counts beside the bytes.
 *
 * Among nodes of one capacity the score never gets worse with more usable space, so the best node is among the fullest
 * offers of the capacities: a group gives its count, its sum and its extremes, and only its best node is looked at.
 * That holds for nodes all of whose disks may take the replica. Others are taken out of their group for the time of
 * the decision, and scored one by one.
 */
import { compareIds } from '../../model/ids.js';
import { toleratedScore } from '../tiers/balance.js';
import { CapacitySummary } from '../tiers/capacity-summary.js';
import { ReusedObjects } from '../tiers/reused-objects.js';
import { LARGEST, LEAST_SUM, SUM } from './disk-class-view.js';
import { groupExceptionsOf } from './group-exceptions.js';
import type { NodeEntry } from './node-entry.js';
import type { PlanMember } from './request-plan.js';
import type { SearchDemand, SpaceSearch } from './space-search.js';

/** A node, or the best one of a group: until that is known, the group's largest sum bounds it. */
type Contender = {
  node: NodeEntry | undefined;
  member: PlanMember | undefined;
  usableBytes: number;
  totalBytes: number;
  score: number;
};

function emptyContender(): Contender {
  return { node: undefined, member: undefined, usableBytes: 0, totalBytes: 0, score: 0 };
}

export class HybridSearch {
  private readonly summary = new CapacitySummary();
  private readonly contenders = new ReusedObjects<Contender>(emptyContender);
  private alpha = 0;

  constructor(
    private readonly search: SpaceSearch,
    private readonly demand: SearchDemand,
    private readonly nodeBySlot: readonly NodeEntry[],
  ) {}

  /** @param members an element each for the groups that may be used */
  bestNode(members: readonly PlanMember[], alpha: number): NodeEntry | undefined {
    this.alpha = alpha;
    const exceptions = groupExceptionsOf(members, this.demand, this.nodeBySlot);
    // Too many exceptions: every node is scored one by one, which is far slower and as exact.
    if (exceptions === undefined)
      return this.lowest(
        [],
        members.flatMap(({ view }) => view.nodes),
      );
    for (const { view, node } of exceptions.hidden) view.hide(node);
    const best = this.lowest(exceptions.groups, exceptions.nodes);
    for (const { view, node } of exceptions.hidden) view.refresh(node);
    return best;
  }

  private lowest(groups: readonly PlanMember[], nodes: readonly NodeEntry[]): NodeEntry | undefined {
    this.summary.clear();
    this.contenders.clear();
    for (const member of groups) this.addGroup(member);
    for (const node of nodes) this.addNode(node);
    for (const member of groups) this.addSecondLargest(member);
    return this.decide();
  }

  private addGroup(member: PlanMember): void {
    const { tree, totals } = member.view;
    if (totals === undefined || totals.count === 0) return;
    const { count, usableSum, totalBytes } = totals;
    const largestBytes = tree.key(1, SUM);
    const smallestBytes = -tree.key(1, LEAST_SUM);
    this.summary.addGroup({ count, usableSum, totalBytes, largestBytes, smallestBytes });
    if (tree.key(1, LARGEST) >= this.demand.sizeBytes)
      this.enter(undefined, member, largestBytes, totalBytes);
  }

  private addNode(node: NodeEntry): void {
    if (this.demand.hiddenNodes.has(node) || !node.open) return;
    const { disks, sumBytes, totalBytes, eligible } = this.search.offerOf(node);
    if (disks === 0) return;
    this.summary.add(sumBytes, totalBytes);
    if (eligible) this.enter(node, undefined, sumBytes, totalBytes);
  }

  /** The second largest of all is in the group of the largest, or it is the largest of another: so for shares. */
  private addSecondLargest({ view: { tree, totals } }: PlanMember): void {
    if (totals === undefined || totals.count < 2) return;
    const { totalBytes } = totals;
    if (!this.summary.isLargest(tree.key(1, SUM), totalBytes)) return;
    this.summary.addLarge(tree.secondLargest(SUM), totalBytes);
  }

  private enter(
    node: NodeEntry | undefined,
    member: PlanMember | undefined,
    usableBytes: number,
    totalBytes: number,
  ): void {
    const contender = this.contenders.take();
    contender.node = node;
    contender.member = member;
    contender.usableBytes = usableBytes;
    contender.totalBytes = totalBytes;
  }

  /** The lowest score wins; equal ones by the most usable space, then by id. */
  private decide(): NodeEntry | undefined {
    const { contenders } = this;
    for (let at = 0; at < contenders.count; at += 1) this.rate(contenders.at(at));

    let lowest = this.lowestContender();
    // Each pass finds a group's node or puts the group out of the contest, so there are at most as many as groups.
    while (lowest !== undefined && lowest.node === undefined && lowest.score < Number.POSITIVE_INFINITY) {
      this.findNode(lowest);
      lowest = this.lowestContender();
    }
    if (lowest === undefined || lowest.score === Number.POSITIVE_INFINITY) return undefined;

    const limit = toleratedScore(lowest.score);
    let best = lowest;
    for (let at = 0; at < contenders.count; at += 1) {
      const contender = contenders.at(at);
      if (contender.score <= limit && contender.node === undefined) this.findNode(contender);
      if (contender.score <= limit && standsBefore(contender, best)) best = contender;
    }
    return best.node;
  }

  private rate(contender: Contender): void {
    const { usableBytes, totalBytes } = contender;
    const { sizeBytes } = this.demand;
    contender.score = this.summary.scoreAfterPlacing(usableBytes, totalBytes, sizeBytes, this.alpha);
  }

  private lowestContender(): Contender | undefined {
    const { contenders } = this;
    let lowest: Contender | undefined;
    for (let at = 0; at < contenders.count; at += 1) {
      const contender = contenders.at(at);
      if (lowest === undefined || contender.score < lowest.score) lowest = contender;
    }
    return lowest;
  }

  /** Turns the bound of a group into its best node; a group without any is out of the contest. */
  private findNode(contender: Contender): void {
    if (contender.member === undefined) return;
    contender.node = this.search.mostUsableNode([contender.member]);
    if (contender.node === undefined) {
      contender.score = Number.POSITIVE_INFINITY;
      return;
    }
    contender.usableBytes = this.search.bestBytes;
    this.rate(contender);
  }
}

function standsBefore(a: Contender, b: Contender): boolean {
  if (a.usableBytes !== b.usableBytes) return a.usableBytes > b.usableBytes;
  return compareIds(a.node?.id ?? '', b.node?.id ?? '') < 0;
}
