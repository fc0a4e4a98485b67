/**
 * Recent changes of a copy, in memory: everything that another copy may lack durably if its process dies.
 *
 * An engine's flushes are ordered: when one arrives, the previous one has ended on all copies. And none begins while
 * a change is in flight that began before the previous flush. So when the fourth flush after a change arrives, the
 * third has made it durable everywhere: the change began before the first, and had ended when the third began.
 */
import { BLOCK_BYTES, CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';

/** Flush periods remembered beside the current one. */
const PERIODS_KEPT = 3;
/**
 * Maximum stretches listed per period: 2 GiB. Engines flush long before; one that does not, or zeroes more than that
 * at once, must not exhaust the copy's memory.
 */
const STRETCHES_MAX = 32_768;

/** Changed blocks by stretch: bit 0 is the stretch's first block. `undefined` if there were too many. */
type Period = Map<number, number> | undefined;

export class RecentChanges {
  private current: Period = new Map();
  private earlier: Period[] = [];

  /** Records a change that has ended. */
  add(offset: number, lengthBytes: number): void {
    if (this.current === undefined || lengthBytes === 0) return;
    const end = offset + lengthBytes;
    for (let at = offset; at < end; ) {
      const stretch = Math.floor(at / CLUSTER_BYTES);
      const start = stretch * CLUSTER_BYTES;
      const stop = Math.min(end, start + CLUSTER_BYTES);
      const first = (at - start) / BLOCK_BYTES;
      const count = (stop - at) / BLOCK_BYTES;
      this.current.set(stretch, (this.current.get(stretch) ?? 0) | (((1 << count) - 1) << first));
      at = stop;
      if (this.current.size > STRETCHES_MAX) {
        this.current = undefined;
        return;
      }
    }
  }

  /** Starts a period: a flush of the engine has arrived, and is about to run. */
  flushing(): void {
    this.earlier = [...this.earlier, this.current].slice(-PERIODS_KEPT);
    this.current = new Map();
  }

  /** Another engine, or a new connection of the same one, whose flushes are counted from the beginning. */
  startOver(): void {
    this.current = this.union();
    this.earlier = [];
  }

  /** Stretches and their blocks, sorted; `undefined` if there are too many to list. */
  list(): [stretch: number, blocks: number][] | undefined {
    const all = this.union();
    return all && [...all].sort(([a], [b]) => a - b);
  }

  private union(): Period {
    const union = new Map<number, number>();
    for (const period of [...this.earlier, this.current]) {
      if (period === undefined) return undefined;
      for (const [stretch, blocks] of period) union.set(stretch, (union.get(stretch) ?? 0) | blocks);
    }
    return union.size > (PERIODS_KEPT + 1) * STRETCHES_MAX ? undefined : union;
  }
}
