/**
 * Hashes of windows that a copy has recently sent to rebuilds, computed from the bytes that it read from its disk: the target
 * requests them after it has written these, and the source need not read its disk again.
 */
import type { Layer } from '../layers/layer.js';
import { sumsOfWindow } from '../layers/range-sums.js';
import type { Run } from '../layers/stretches.js';
import { heldRunsOf, WINDOW_BLOCKS } from '../layers/window-buffers.js';
import { hashRuns } from '../layers/window-hash.js';

/**
 * Number of remembered hashes: 2 GiB of data, for a densely filled layer. A target requests a part of 128 MiB as soon as it has
 * written it; for a later request the hash is computed from the disk. Each takes about 200 bytes.
 */
const WINDOWS_MAX = 512;

type SentWindow = {
  readonly layer: Layer;
  /** Of the layer's map when the window was read. */
  readonly changes: number;
  readonly hash: string;
  readonly sums: Buffer | undefined;
};

/** Runs of blocks that were read of a layer for a rebuild, all of one window and in order. */
export type SentRuns = {
  readonly layerId: string;
  readonly layer: Layer;
  /** Of the layer's map before they were read. */
  readonly changes: number;
  readonly runs: readonly Run[];
  /** The bytes of each run. */
  readonly pieces: readonly Buffer[];
};

export class SentWindows {
  private readonly windows = new Map<string, SentWindow>();

  /** @param keepsSums whether the copy keeps range checksums, which then are computed as well */
  constructor(private readonly keepsSums: boolean) {}

  get size(): number {
    return this.windows.size;
  }

  /** Notes the hash of a window that is being sent, if these are all the blocks that the layer holds in it. */
  note({ layerId, layer, changes, runs, pieces }: SentRuns): void {
    const [run] = runs;
    const [piece] = pieces;
    if (run === undefined || piece === undefined) return;
    // Range checksums are computed of bytes that lie together only: on the disks that have them, a layer holds much as a rule.
    if (this.keepsSums && runs.length > 1) return;
    const window = Math.floor(run.first / WINDOW_BLOCKS);
    if (!areEqual(runs, heldRunsOf(layer, window))) return;
    const hash = hashRuns(runs, pieces);
    const sums = this.keepsSums ? sumsOfWindow(window, runs, piece, run.first) : undefined;
    const [oldest] = this.windows.keys();
    if (this.windows.size >= WINDOWS_MAX && oldest !== undefined) this.windows.delete(oldest);
    this.windows.set(keyOf(layerId, window), { layer, changes, hash, sums });
  }

  /** The hash of a window that was sent, once; `undefined` if it is not known, or the layer has changed since. */
  take(layerId: string, layer: Layer, window: number): Pick<SentWindow, 'hash' | 'sums'> | undefined {
    const key = keyOf(layerId, window);
    const found = this.windows.get(key);
    this.windows.delete(key);
    return found?.layer === layer && found.changes === layer.map.changes ? found : undefined;
  }
}

function areEqual(some: readonly Run[], others: readonly Run[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ first, count }, index) => others[index]?.first === first && others[index]?.count === count)
  );
}

function keyOf(layerId: string, window: number): string {
  return `${layerId} ${window}`;
}
