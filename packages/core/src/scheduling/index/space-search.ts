/**
 * Finds the best node, or the best disk, of some views by branch and bound: whole parts of a tournament are left out
 * when no node below can hold the replica or beat what is found already. A node is then judged by its disks one by
 * one, so the answer is the same as that of looking at every disk.
 *
 * Usually one walk down. It looks at more nodes where those that seem best can't be used: each occupied node costs a
 * walk, and so does a node whose disks pass the two space formulas only between them.
 */
import { compareIds } from '../../model/ids.js';
import {
  at,
  FREE as DISK_FREE,
  HEADROOM as DISK_HEADROOM,
  type DiskColumns,
  ROW_LENGTH,
  USABLE_CLASS,
} from './columns.js';
import { type DiskClassView, FREE, HEADROOM, LARGEST, SUM } from './disk-class-view.js';
import type { NodeEntry } from './node-entry.js';
import type { ShortList } from './short-list.js';

/** What one search asks of disks and nodes. */
export type SearchDemand = {
  sizeBytes: number;
  writtenBytes: number;
  /** By disk class: 1 where the request may use it. */
  isWanted: Uint8Array;
  /** Nodes and disks that hold replicas of the volume; a handful at most (REPLICA_COUNT_MAX). */
  readonly hiddenNodes: ShortList<NodeEntry>;
  readonly hiddenSlots: ShortList<number>;
};

/** What a node offers to a demand. */
type NodeOffer = { disks: number; sumBytes: number; totalBytes: number; eligible: boolean };

export class SpaceSearch {
  /** The best so far, and by what it is. */
  private node: NodeEntry | undefined;
  private slot: number | undefined;
  bestBytes = Number.NEGATIVE_INFINITY;
  private leastBytes = 0;
  private readonly offer: NodeOffer = { disks: 0, sumBytes: 0, totalBytes: 0, eligible: false };

  constructor(
    private readonly columns: DiskColumns,
    private readonly diskIds: readonly string[],
    private readonly demand: SearchDemand,
  ) {}

  /** The node with the most usable space among those with a disk that holds the whole replica; then by id. */
  mostUsableNode(members: readonly { readonly view: DiskClassView }[]): NodeEntry | undefined {
    this.begin(this.demand.sizeBytes);
    const first = largestFirst(members, SUM);
    if (first !== undefined && !this.takesTop(first)) this.visitNodes(first, 1);
    for (const { view } of members) {
      if (view !== first && view.tree.key(1, SUM) >= this.bestBytes) this.visitNodes(view, 1);
    }
    return this.node;
  }

  /** The disk with the most usable space, be it less than the size or negative; then by id. */
  mostUsableDisk(members: readonly { readonly view: DiskClassView }[]): number | undefined {
    this.begin(Number.NEGATIVE_INFINITY);
    const first = largestFirst(members, LARGEST);
    if (first !== undefined) this.visitDisks(first, 1);
    for (const { view } of members) if (view !== first) this.visitDisks(view, 1);
    return this.slot;
  }

  private begin(leastBytes: number): void {
    this.leastBytes = leastBytes;
    this.node = undefined;
    this.slot = undefined;
    this.bestBytes = Number.NEGATIVE_INFINITY;
  }

  /**
   * The usual case in one short walk: the node with the largest sum of the view may take the replica on all its disks.
   * No other node of the view beats it then, and of its equals it has the smallest id.
   */
  private takesTop(view: DiskClassView): boolean {
    this.judgeNode(view.nodes[view.tree.leafOfLargest(SUM)]);
    return this.node !== undefined && this.bestBytes === view.tree.key(1, SUM);
  }

  private visitNodes(view: DiskClassView, at_: number): void {
    const { tree } = view;
    if (!this.mayHold(view, at_)) return;
    const bound = at(tree.keys, at_ * tree.width + SUM);
    if (bound < this.bestBytes) return;
    if (bound === this.bestBytes && !this.standsBefore(view, at_)) return;
    if (at_ >= tree.firstLeaf) {
      this.judgeNode(view.nodes[at_ - tree.firstLeaf]);
      return;
    }
    const left = 2 * at_;
    const leftFirst = at(tree.keys, left * tree.width + SUM) >= at(tree.keys, (left + 1) * tree.width + SUM);
    this.visitNodes(view, leftFirst ? left : left + 1);
    this.visitNodes(view, leftFirst ? left + 1 : left);
  }

  private visitDisks(view: DiskClassView, at_: number): void {
    const { tree } = view;
    // Nodes stand in the order of their own ids, so an equal disk with a smaller id may be anywhere.
    if (!this.mayHold(view, at_) || at(tree.keys, at_ * tree.width + LARGEST) < this.bestBytes) return;
    if (at_ >= tree.firstLeaf) {
      this.judgeDisks(view.nodes[at_ - tree.firstLeaf]);
      return;
    }
    const left = 2 * at_;
    const leftFirst =
      at(tree.keys, left * tree.width + LARGEST) >= at(tree.keys, (left + 1) * tree.width + LARGEST);
    this.visitDisks(view, leftFirst ? left : left + 1);
    this.visitDisks(view, leftFirst ? left + 1 : left);
  }

  /** Is there, as far as the maxima tell, a disk below that holds the replica? */
  private mayHold({ tree }: DiskClassView, at_: number): boolean {
    const { sizeBytes, writtenBytes } = this.demand;
    const own = at_ * tree.width;
    return (
      at(tree.keys, own + LARGEST) >= this.leastBytes &&
      at(tree.keys, own + HEADROOM) >= sizeBytes &&
      at(tree.keys, own + FREE) > writtenBytes
    );
  }

  /** Among equals the smallest id wins; leaves stand in the order of ids. */
  private standsBefore({ tree, nodes }: DiskClassView, at_: number): boolean {
    const first = nodes[tree.leftmost(at_)];
    return first !== undefined && this.node !== undefined && compareIds(first.id, this.node.id) < 0;
  }

  private judgeNode(node: NodeEntry | undefined): void {
    if (node === undefined || this.demand.hiddenNodes.has(node)) return;
    const { sumBytes, eligible } = this.offerOf(node);
    if (!eligible || sumBytes < this.bestBytes) return;
    if (sumBytes === this.bestBytes && this.node !== undefined && compareIds(this.node.id, node.id) < 0)
      return;
    this.node = node;
    this.bestBytes = sumBytes;
  }

  private judgeDisks(node: NodeEntry | undefined): void {
    if (node === undefined || this.demand.hiddenNodes.has(node)) return;
    for (const slot of node.slots) {
      if (!this.holds(slot)) continue;
      const usable = this.columns.usable(slot);
      if (usable < this.bestBytes) continue;
      if (usable === this.bestBytes && this.slot !== undefined && this.isIdBefore(this.slot, slot)) continue;
      this.node = node;
      this.slot = slot;
      this.bestBytes = usable;
    }
  }

  /** The sums over those disks of a node that may take the replica. The object is used again by the next call. */
  offerOf(node: NodeEntry): NodeOffer {
    const { offer, columns } = this;
    offer.disks = 0;
    offer.sumBytes = 0;
    offer.totalBytes = 0;
    offer.eligible = false;
    for (const slot of node.slots) {
      if (!this.holds(slot)) continue;
      offer.disks += 1;
      const usable = columns.usable(slot);
      if (usable > 0) offer.sumBytes += usable;
      offer.totalBytes += columns.total(slot);
      if (usable >= this.demand.sizeBytes) offer.eligible = true;
    }
    return offer;
  }

  /** Does the disk pass every filter of this request? */
  passes(slot: number): boolean {
    const { demand } = this;
    const { rows } = this.columns;
    const row = slot * ROW_LENGTH;
    return (
      demand.isWanted[at(rows, row + USABLE_CLASS)] === 1 &&
      at(rows, row + DISK_HEADROOM) >= demand.sizeBytes &&
      at(rows, row + DISK_FREE) > demand.writtenBytes
    );
  }

  /** As `passes`, for a disk without a replica of the volume. */
  holds(slot: number): boolean {
    return this.passes(slot) && !this.demand.hiddenSlots.has(slot);
  }

  private isIdBefore(a: number, b: number): boolean {
    return compareIds(this.diskIds[a] ?? '', this.diskIds[b] ?? '') < 0;
  }
}

/** Where the largest value is: the rest is then left out sooner. */
function largestFirst(
  members: readonly { readonly view: DiskClassView }[],
  key: number,
): DiskClassView | undefined {
  let best: DiskClassView | undefined;
  let bestBytes = Number.NEGATIVE_INFINITY;
  for (const { view } of members) {
    const bytes = view.tree.key(1, key);
    if (bytes <= bestBytes) continue;
    best = view;
    bestBytes = bytes;
  }
  return best;
}
