/**
 * A group's nodes, seen as if they had only the disks of some classes: per node the sum of its usable bytes and the
 * largest of what its disks offer, in a tournament. Those bound what any request can find on the node, and where all
 * the disks of a node hold the request they are exactly that.
 */
import { ExactSum } from '../exact-sum.js';
import type { DiskColumns } from './columns.js';
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
type LeastValues = { readonly tree: MaxTree; readonly sum: ExactSum; count: number };

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

  /** Of any one node, all disks counted; the same for all nodes of a group when α < 1 tells groups apart by it. */
  get totalBytes(): number {
    let sum = 0;
    for (const slot of this.nodes[0]?.slots ?? []) {
      if (this.isWanted[this.columns.classOf(slot)] === 1) sum += this.columns.total(slot);
    }
    return sum;
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
    this.drop(node.position);
    this.tree.rise(node.position);
    this.least?.tree.rise(node.position);
  }

  leastValues(): LeastValues {
    if (this.least === undefined) {
      this.least = { tree: new MaxTree(this.nodes.length, LEAST_KEYS), sum: new ExactSum(), count: 0 };
      // All leaves are taken as absent, so that measuring them counts each once.
      this.tree.keys.fill(NONE);
      this.refreshAll();
    }
    return this.least;
  }

  /** Do two views of the same nodes and classes say the same? */
  agreesWith(other: DiskClassView): boolean {
    if (!this.tree.equals(other.tree)) return false;
    if (other.least === undefined) return true;
    const least = this.leastValues();
    const { tree, sum, count } = other.least;
    return least.tree.equals(tree) && least.sum.equals(sum) && least.count === count;
  }

  private measure(node: NodeEntry): void {
    const { columns, tree } = this;
    this.drop(node.position);
    if (!node.open) return;
    let [sum, largest, headroom, free] = [0, NONE, NONE, NONE];
    for (const slot of node.slots) {
      if (this.isWanted[columns.classOf(slot)] !== 1 || !columns.isPossible(slot)) continue;
      const usable = columns.usable(slot);
      if (usable > 0) sum += usable;
      if (usable > largest) largest = usable;
      if (columns.headroom(slot) > headroom) headroom = columns.headroom(slot);
      if (columns.free(slot) > free) free = columns.free(slot);
    }
    if (largest === NONE) return;
    tree.setKey(node.position, SUM, sum);
    tree.setKey(node.position, LARGEST, largest);
    tree.setKey(node.position, HEADROOM, headroom);
    tree.setKey(node.position, FREE, free);
    if (this.least !== undefined) this.measureLeast(node, sum, this.least);
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

  private drop(position: number): void {
    const { tree, least } = this;
    if (least !== undefined) {
      const sum = tree.key(tree.firstLeaf + position, SUM);
      if (sum !== NONE) {
        least.sum.add(-sum);
        least.count -= 1;
        least.tree.clear(position);
      }
    }
    tree.clear(position);
  }
}
