import type { RangeSums } from '../integrity/range-sums.js';
import { heldBytesInWindow } from '../integrity/window-hash.js';
import type { PulledLayer } from '../replica/commands.js';
import type { Layer } from '../replica/layer.js';

/** One layer on its way to the target, and what of it is done: a source that takes over goes on from there. */
export class LayerPull {
  /** Windows that were sent as a whole, with the hash of what arrived. */
  readonly received = new Map<number, string>();
  /** Windows that were compared, and made equal and read back where they differed. */
  readonly compared = new Set<number>();
  bytesSent = 0;
  /** The only parts that are looked at; null for all. */
  ranges: PulledLayer['ranges'];

  constructor(
    readonly plan: PulledLayer,
    readonly layer: Layer,
  ) {
    this.ranges = plan.ranges;
  }

  /** Checksums of the ranges of what was read back, where the target keeps them. */
  sums: RangeSums | undefined;

  /** What the target holds of a window now. */
  heldBytesIn(window: number): number {
    return heldBytesInWindow(this.layer, window);
  }
}
