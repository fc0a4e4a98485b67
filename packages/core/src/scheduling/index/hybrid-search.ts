/**
 * The best node for α < 1, where the share of free space counts beside the bytes.
 *
 * Among nodes of one capacity the score never gets worse with more usable space, so the best node is among the fullest
 * offers of the capacities: a group gives its count, its sum and its extremes, and only its best node is looked at.
 * That holds for nodes all of whose disks may take the replica. Others are taken out of their group for the time of
 * the decision, and stand for themselves.
 */
import { compareIds } from '../../model/ids.js';
import { toleratedScore } from '../balance.js';
import { CapacitySummary } from '../capacity-summary.js';
import { LARGEST, LEAST_SUM, SUM } from './disk-class-view.js';
import type { NodeEntry } from './node-entry.js';
import { outsidersOf } from './outsiders.js';
import type { PlanMember } from './request-plan.js';
import type { SearchDemand, SpaceSearch } from './space-search.js';

/** A node, or the best one of a group: until that is known, the group's largest sum bounds it. */
type Contender = {
  node: NodeEntry | undefined;
  readonly member: PlanMember | undefined;
  usableBytes: number;
  readonly totalBytes: number;
  score: number;
};

export class HybridSearch {
  constructor(
    private readonly search: SpaceSearch,
    private readonly demand: SearchDemand,
    private readonly nodeBySlot: readonly NodeEntry[],
  ) {}

  /** @param members an element each for the groups that may be used */
  bestNode(members: readonly PlanMember[], alpha: number): NodeEntry | undefined {
    const outsiders = outsidersOf(members, this.demand, this.nodeBySlot);
    // So many that each node may as well stand for itself: slower by far, and no less exact.
    if (outsiders === undefined)
      return this.lowest(
        [],
        members.flatMap(({ view }) => view.nodes),
        alpha,
      );
    for (const { view, node } of outsiders.hidden) view.hide(node);
    const best = this.lowest(outsiders.groups, outsiders.nodes, alpha);
    for (const { view, node } of outsiders.hidden) view.refresh(node);
    return best;
  }

  private lowest(
    groups: readonly PlanMember[],
    nodes: readonly NodeEntry[],
    alpha: number,
  ): NodeEntry | undefined {
    const summary = new CapacitySummary();
    const contenders: Contender[] = [];
    for (const member of groups) addGroup(member, this.demand.sizeBytes, summary, contenders);
    for (const node of nodes) this.addNode(node, summary, contenders);
    addSecondExtremes(groups, summary);
    return this.decide(contenders, summary, alpha);
  }

  private addNode(node: NodeEntry, summary: CapacitySummary, contenders: Contender[]): void {
    if (this.demand.hiddenNodes.has(node) || !node.open) return;
    const { disks, sumBytes, totalBytes, eligible } = this.search.offerOf(node);
    if (disks === 0) return;
    summary.add(sumBytes, totalBytes);
    if (eligible) contenders.push({ node, member: undefined, usableBytes: sumBytes, totalBytes, score: 0 });
  }

  /** The lowest score wins; equal ones by the most usable space, then by id. */
  private decide(contenders: readonly Contender[], summary: CapacitySummary, alpha: number) {
    const rate = (contender: Contender) => {
      const { usableBytes, totalBytes } = contender;
      contender.score = summary.scoreAfterPlacing(usableBytes, totalBytes, this.demand.sizeBytes, alpha);
    };
    for (const contender of contenders) rate(contender);

    let lowest = lowestOf(contenders);
    // Each turn finds a group's node or puts the group out of the contest, so there are at most as many as groups.
    while (lowest !== undefined && lowest.node === undefined && lowest.score < Number.POSITIVE_INFINITY) {
      this.findNode(lowest, rate);
      lowest = lowestOf(contenders);
    }
    if (lowest === undefined || lowest.score === Number.POSITIVE_INFINITY) return undefined;

    const limit = toleratedScore(lowest.score);
    let best = lowest;
    for (const contender of contenders) {
      if (contender.score <= limit && contender.node === undefined) this.findNode(contender, rate);
      if (contender.score <= limit && standsBefore(contender, best)) best = contender;
    }
    return best.node;
  }

  /** Turns the bound of a group into its best node; a group without any is out of the contest. */
  private findNode(contender: Contender, rate: (contender: Contender) => void): void {
    if (contender.member === undefined) return;
    contender.node = this.search.mostUsableNode([contender.member]);
    if (contender.node === undefined) {
      contender.score = Number.POSITIVE_INFINITY;
      return;
    }
    contender.usableBytes = this.search.bestBytes;
    rate(contender);
  }
}

function addGroup(
  member: PlanMember,
  sizeBytes: number,
  summary: CapacitySummary,
  contenders: Contender[],
): void {
  const { view } = member;
  const { tree, count, sum, totalBytes } = view.leastValues();
  if (count === 0) return;
  const largestBytes = view.tree.key(1, SUM);
  summary.addGroup({
    count,
    usableSum: sum,
    totalBytes,
    largestBytes,
    smallestBytes: -tree.key(1, LEAST_SUM),
  });
  if (view.tree.key(1, LARGEST) < sizeBytes) return;
  contenders.push({ node: undefined, member, usableBytes: largestBytes, totalBytes, score: 0 });
}

/** The second largest of all is in the group of the largest, or it is the largest of another: so for shares. */
function addSecondExtremes(groups: readonly PlanMember[], summary: CapacitySummary): void {
  for (const { view } of groups) {
    const { tree, count, totalBytes } = view.leastValues();
    if (count < 2) continue;
    if (summary.isLargest(view.tree.key(1, SUM), totalBytes)) {
      summary.addLarge(view.tree.secondLargest(SUM), totalBytes);
    }
    if (summary.isSmallest(-tree.key(1, LEAST_SUM), totalBytes))
      summary.addSmall(-tree.secondLargest(LEAST_SUM), totalBytes);
  }
}

function lowestOf(contenders: readonly Contender[]): Contender | undefined {
  let lowest: Contender | undefined;
  for (const contender of contenders) {
    if (lowest === undefined || contender.score < lowest.score) lowest = contender;
  }
  return lowest;
}

function standsBefore(a: Contender, b: Contender): boolean {
  if (a.usableBytes !== b.usableBytes) return a.usableBytes > b.usableBytes;
  return compareIds(a.node?.id ?? '', b.node?.id ?? '') < 0;
}
