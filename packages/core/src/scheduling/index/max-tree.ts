/**
 * Tournament tree: leaves hold a few keys each, and every inner node holds, key by key, the largest below it. One change
 * costs a walk to the root; a search walks down only where a key says that the wanted leaf may be.
 */
import { at } from './columns.js';

const ABSENT = Number.NEGATIVE_INFINITY;

export class MaxTree {
  /** The first leaf; also their number: a power of two, so that a position is found by doubling. */
  readonly firstLeaf: number;
  /** Keys of node n stand from `n × width`; the root is node 1. */
  readonly keys: Float64Array;

  constructor(
    leafCount: number,
    readonly width: number,
  ) {
    let size = 1;
    while (size < leafCount) size *= 2;
    this.firstLeaf = size;
    this.keys = new Float64Array(2 * size * width).fill(ABSENT);
  }

  key(node: number, index: number): number {
    return at(this.keys, node * this.width + index);
  }

  setKey(position: number, index: number, value: number): void {
    this.keys[(this.firstLeaf + position) * this.width + index] = value;
  }

  clear(position: number): void {
    const from = (this.firstLeaf + position) * this.width;
    this.keys.fill(ABSENT, from, from + this.width);
  }

  /** After the keys of a leaf have changed. Stops where the change no longer matters. */
  rise(position: number): void {
    const { keys, width } = this;
    let node = (this.firstLeaf + position) >> 1;
    let changed = true;
    while (node >= 1 && changed) {
      changed = false;
      const own = node * width;
      const left = 2 * own;
      for (let index = 0; index < width; index += 1) {
        let largest = at(keys, left + index);
        const other = at(keys, left + width + index);
        // Not Math.max: it minds NaN and -0, which never stand here, and this is the innermost loop of a booking.
        if (other > largest) largest = other;
        if (at(keys, own + index) === largest) continue;
        keys[own + index] = largest;
        changed = true;
      }
      node >>= 1;
    }
  }

  /** After many leaves have changed: every inner node once. */
  riseAll(): void {
    const { keys, width } = this;
    for (let at_ = this.firstLeaf * width - 1; at_ >= width; at_ -= 1) {
      const node = Math.floor(at_ / width);
      const index = at_ - node * width;
      keys[at_] = Math.max(at(keys, 2 * node * width + index), at(keys, (2 * node + 1) * width + index));
    }
  }

  /** The position of the leftmost leaf with the largest value of one key. */
  leafOfLargest(index: number): number {
    const { keys, width, firstLeaf } = this;
    let node = 1;
    while (node < firstLeaf) {
      node *= 2;
      const left = node * width + index;
      if (at(keys, left) < at(keys, left + width)) node += 1;
    }
    return node - firstLeaf;
  }

  /** The position of the leftmost leaf below a node. */
  leftmost(node: number): number {
    let leaf = node;
    while (leaf < this.firstLeaf) leaf *= 2;
    return leaf - this.firstLeaf;
  }

  /** The second largest of one key over all leaves: the best of all that lost against the largest. */
  secondLargest(index: number): number {
    let node = 1;
    let second = ABSENT;
    while (node < this.firstLeaf) {
      const left = this.key(2 * node, index);
      const right = this.key(2 * node + 1, index);
      second = Math.max(second, Math.min(left, right));
      node = left >= right ? 2 * node : 2 * node + 1;
    }
    return second;
  }

  equals(other: MaxTree): boolean {
    return (
      this.keys.length === other.keys.length && this.keys.every((value, index) => value === other.keys[index])
    );
  }
}
