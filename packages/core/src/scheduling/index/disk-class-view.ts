/**
 * View of a group's nodes as if they had only the disks of some classes: per node the sum of its usable bytes and the
 * largest of what its disks offer, in a tournament. Those bound what any request can find on the node, and where all
 * the disks of a node hold the request they are exactly that.
 */
import { ExactSum } from '../tiers/exact-sum.js';
import {
  at,
  FREE as DISK_FREE,
  HEADROOM as DISK_HEADROOM,
  type DiskColumns,
  ROW_LENGTH,
  USABLE,
  USABLE_CLASS,
} from './columns.js';
import { MaxTree } from './max-tree.js';
import type { NodeEntry } from './node-entry.js';

/** Keys of a view's tournament. */
export const SUM = 0;
export const LARGEST = 1;
export const HEADROOM = 2;
export const FREE = 3;
const KEYS = 4;

/** Further keys once least values are kept (`keepLeastValues`): negated, so that the least is the largest. */
export const LEAST_SUM = 4;
export const LEAST_HEADROOM = 5;
export const LEAST_FREE = 6;
const KEYS_WITH_LEAST = 7;

const NONE = Number.NEGATIVE_INFINITY;

/** What the scores for α < 1 need of all nodes together. */
export type GroupTotals = {
  /** Of usable bytes, node by node. */
  readonly usableSum: ExactSum;
  /** Nodes that have a disk to offer. */
  count: number;
  /** Of any one node, all its disks counted: for α < 1 groups are told apart by it. */
  readonly totalBytes: number;
};

export class DiskClassView {
  tree: MaxTree;
  private readonly isWanted: Uint8Array;
  /** Made by `keepLeastValues`. */
  totals: GroupTotals | undefined;

  constructor(
    readonly nodes: readonly NodeEntry[],
    readonly wanted: readonly number[],
    private readonly columns: DiskColumns,
  ) {
    this.isWanted = new Uint8Array(Math.max(0, ...wanted) + 1);
    for (const classId of wanted) this.isWanted[classId] = 1;
    this.tree = new MaxTree(nodes.length, KEYS);
    this.refreshAll();
  }

  get bytes(): number {
    return this.tree.keys.byteLength;
  }

  /** Does anything here depend on disks of the class? */
  wants(classId: number): boolean {
    return this.isWanted[classId] === 1;
  }

  refresh(node: NodeEntry): void {
    this.measure(node);
    this.tree.rise(node.position);
  }

  refreshAll(): void {
    for (const node of this.nodes) this.measure(node);
    this.tree.riseAll();
  }

  /** As if the node were not there, until it is refreshed. */
  hide(node: NodeEntry): void {
    this.drop(node);
    this.tree.clear(node.position);
    this.tree.rise(node.position);
  }

  /** From then on the tournament has the least values too, and there are totals: bookings are cheaper without. */
  keepLeastValues(): GroupTotals {
    if (this.totals === undefined) {
      this.totals = { usableSum: new ExactSum(), count: 0, totalBytes: this.capacityOf(this.nodes[0]) };
      // All leaves of the new one are absent, so that measuring them counts each once.
      this.tree = new MaxTree(this.nodes.length, KEYS_WITH_LEAST);
      this.refreshAll();
    }
    return this.totals;
  }

  private capacityOf(node: NodeEntry | undefined): number {
    let sum = 0;
    for (const slot of node?.slots ?? []) {
      if (this.wants(this.columns.classOf(slot))) sum += this.columns.total(slot);
    }
    return sum;
  }

  /** Do two views of the same nodes and classes say the same? */
  agreesWith(other: DiskClassView): boolean {
    const theirs = other.totals;
    if (theirs === undefined) return this.tree.equals(other.tree);
    const { usableSum, count } = this.keepLeastValues();
    return this.tree.equals(other.tree) && usableSum.equals(theirs.usableSum) && count === theirs.count;
  }

  /** Runs for every booking, so it reads and writes the arrays themselves. */
  private measure(node: NodeEntry): void {
    const { columns, tree } = this;
    const { rows } = columns;
    const { keys } = tree;
    const leaf = (tree.firstLeaf + node.position) * tree.width;
    this.drop(node);

    let sum = NONE;
    let largest = NONE;
    let headroom = NONE;
    let free = NONE;
    if (node.open) {
      for (const slot of node.slots) {
        const row = slot * ROW_LENGTH;
        // A disk that no request may use has a class that none is wanted of.
        if (this.isWanted[at(rows, row + USABLE_CLASS)] !== 1) continue;
        const usable = at(rows, row + USABLE);
        if (sum === NONE) sum = 0;
        if (usable > 0) sum += usable;
        if (usable > largest) largest = usable;
        if (at(rows, row + DISK_HEADROOM) > headroom) headroom = at(rows, row + DISK_HEADROOM);
        if (at(rows, row + DISK_FREE) > free) free = at(rows, row + DISK_FREE);
      }
    }
    keys[leaf + SUM] = sum;
    keys[leaf + LARGEST] = largest;
    keys[leaf + HEADROOM] = headroom;
    keys[leaf + FREE] = free;
    if (this.totals !== undefined) this.measureLeast(node, sum, this.totals);
  }

  private measureLeast(node: NodeEntry, sum: number, totals: GroupTotals): void {
    const { columns, tree } = this;
    if (sum === NONE) {
      for (const key of [LEAST_SUM, LEAST_HEADROOM, LEAST_FREE]) tree.setKey(node.position, key, NONE);
      return;
    }
    let [headroom, free] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const slot of node.slots) {
      if (this.isWanted[columns.classOf(slot)] !== 1) continue;
      // A disk that no request could use makes the node unlike its group: it then fails every request's threshold.
      const isPossible = columns.isPossible(slot);
      headroom = Math.min(headroom, isPossible ? columns.headroom(slot) : NONE);
      free = Math.min(free, isPossible ? columns.free(slot) : NONE);
    }
    tree.setKey(node.position, LEAST_SUM, -sum);
    tree.setKey(node.position, LEAST_HEADROOM, -headroom);
    tree.setKey(node.position, LEAST_FREE, -free);
    totals.usableSum.add(sum);
    totals.count += 1;
  }

  /** Takes what the node was measured as out of the totals. */
  private drop({ position }: NodeEntry): void {
    const { totals, tree } = this;
    if (totals === undefined) return;
    const sum = tree.key(tree.firstLeaf + position, SUM);
    if (sum === NONE) return;
    totals.usableSum.add(-sum);
    totals.count -= 1;
  }
}
