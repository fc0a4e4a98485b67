/**
 * A group's nodes, seen as if they had only the disks of some classes: per node the sum of its usable bytes and the
 * largest of what its disks offer, in a tournament. Those bound what any request can find on the node, and where all
 * the disks of a node hold the request they are exactly that.
 */
import { ExactSum } from '../exact-sum.js';
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

/** Keys of the tournament of least values, negated, so that the least is the largest. */
export const LEAST_SUM = 0;
export const LEAST_HEADROOM = 1;
export const LEAST_FREE = 2;
const LEAST_KEYS = 3;

const NONE = Number.NEGATIVE_INFINITY;

/** What the scores for α < 1 need beside the maxima. Kept only once asked for: bookings are cheaper without. */
type LeastValues = {
  readonly tree: MaxTree;
  readonly sum: ExactSum;
  count: number;
  /** Of any one node, all its disks counted: for α < 1 groups are told apart by it. */
  readonly totalBytes: number;
};

export class DiskClassView {
  readonly tree: MaxTree;
  private readonly isWanted: Uint8Array;
  private least: LeastValues | undefined;

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
    return this.tree.keys.byteLength + (this.least?.tree.keys.byteLength ?? 0);
  }

  /** Does anything here depend on disks of the class? */
  wants(classId: number): boolean {
    return this.isWanted[classId] === 1;
  }

  refresh(node: NodeEntry): void {
    this.measure(node);
    this.tree.rise(node.position);
    this.least?.tree.rise(node.position);
  }

  refreshAll(): void {
    for (const node of this.nodes) this.measure(node);
    this.tree.riseAll();
    this.least?.tree.riseAll();
  }

  /** As if the node were not there, until it is refreshed. */
  hide(node: NodeEntry): void {
    const { tree, least } = this;
    if (least !== undefined) this.drop(node.position, tree.key(tree.firstLeaf + node.position, SUM), least);
    this.tree.clear(node.position);
    this.tree.rise(node.position);
    this.least?.tree.rise(node.position);
  }

  leastValues(): LeastValues {
    if (this.least === undefined) {
      this.least = {
        tree: new MaxTree(this.nodes.length, LEAST_KEYS),
        sum: new ExactSum(),
        count: 0,
        totalBytes: this.capacityOf(this.nodes[0]),
      };
      // All leaves are taken as absent, so that measuring them counts each once.
      this.tree.keys.fill(NONE);
      this.refreshAll();
    }
    return this.least;
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
    if (!this.tree.equals(other.tree)) return false;
    if (other.least === undefined) return true;
    const least = this.leastValues();
    const { tree, sum, count } = other.least;
    return least.tree.equals(tree) && least.sum.equals(sum) && least.count === count;
  }

  /** Runs for every booking, so it reads and writes the arrays themselves. */
  private measure(node: NodeEntry): void {
    const { columns, tree, least } = this;
    const { rows } = columns;
    const { keys } = tree;
    const leaf = (tree.firstLeaf + node.position) * KEYS;
    if (least !== undefined) this.drop(node.position, at(keys, leaf + SUM), least);

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
    if (least !== undefined && sum !== NONE) this.measureLeast(node, sum, least);
  }

  private measureLeast(node: NodeEntry, sum: number, least: LeastValues): void {
    const { columns } = this;
    let [headroom, free] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const slot of node.slots) {
      if (this.isWanted[columns.classOf(slot)] !== 1) continue;
      // A disk that no request could use makes the node unlike its group: it then fails every request's threshold.
      const isPossible = columns.isPossible(slot);
      headroom = Math.min(headroom, isPossible ? columns.headroom(slot) : NONE);
      free = Math.min(free, isPossible ? columns.free(slot) : NONE);
    }
    least.tree.setKey(node.position, LEAST_SUM, -sum);
    least.tree.setKey(node.position, LEAST_HEADROOM, -headroom);
    least.tree.setKey(node.position, LEAST_FREE, -free);
    least.sum.add(sum);
    least.count += 1;
  }

  private drop(position: number, sum: number, least: LeastValues): void {
    if (sum === NONE) return;
    least.sum.add(-sum);
    least.count -= 1;
    least.tree.clear(position);
  }
}
