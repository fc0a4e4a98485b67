import type { Layer } from '../layers/layer.js';
import type { RangeSums } from '../layers/range-sums.js';
import { heldBytesInWindow } from '../layers/window-hash.js';
import type { PulledLayer } from '../protocol/pull.js';

/** Progress of one layer's transfer to the target: another source can continue from it. */
export class LayerPull {
  /** Windows that were sent as a whole, and written. */
  readonly received = new Set<number>();
  /** The hash of each window that was read back from the disk after it was durable. */
  readonly readBack = new Map<number, string>();
  /** Windows that were compared, and synced and read back where they differed. */
  readonly compared = new Set<number>();
  bytesSent = 0;
  /** Limits the transfer to these ranges; null for all. */
  ranges: PulledLayer['ranges'];

  /** @param sums range checksums of what is read back, if the target keeps them */
  constructor(
    readonly plan: PulledLayer,
    readonly layer: Layer,
    readonly sums: RangeSums | undefined,
  ) {
    this.ranges = plan.ranges;
  }

  /** Bytes that the target holds in a window now. */
  heldBytesIn(window: number): number {
    return heldBytesInWindow(this.layer, window);
  }
}
