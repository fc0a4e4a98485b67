/**
 * Hashes of the windows that a copy has lately sent to rebuilds, taken from the very bytes that it read from its disk: the target
 * asks for them once it has written these, and the source need not read its disk a second time.
 */
import { BLOCK_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import type { Layer } from '../layers/layer.js';
import { sumsOfWindow } from '../layers/range-sums.js';
import { WINDOW_BLOCKS } from '../layers/window-buffers.js';
import { hashRuns } from '../layers/window-hash.js';
import type { Payload } from '../nbd/export.js';

/**
 * As many as are remembered: 2 GiB of data. A target asks for a part of 128 MiB as soon as it has written it; the hash of a window
 * that it asks for later is read from the disk. Each takes about 200 bytes.
 */
const WINDOWS_MAX = 512;

type SentWindow = {
  readonly layer: Layer;
  /** Of the layer's map when the window was read. */
  readonly changes: number;
  readonly hash: string;
  readonly sums: Buffer | undefined;
};

/** A read of a layer for a rebuild. */
export type WindowRead = { readonly layerId: string; readonly layer: Layer; readonly offset: number };

export class SentWindows {
  private readonly windows = new Map<string, SentWindow>();

  /** @param keepsSums whether the copy keeps range checksums, which then are computed as well */
  constructor(private readonly keepsSums: boolean) {}

  get size(): number {
    return this.windows.size;
  }

  /**
   * Notes the hash of what was read, if that was one whole window, of which the layer holds each block: so are nearly all windows of
   * a layer that holds much.
   *
   * @param changes of the layer's map before it was read
   */
  note({ layerId, layer, offset }: WindowRead, changes: number, payload: Payload): void {
    const [buffer] = payload;
    if (buffer === undefined || payload.length > 1 || !isWholeWindow(layer, offset, buffer.length)) return;
    const window = offset / WINDOW_BYTES;
    const run = { first: window * WINDOW_BLOCKS, count: buffer.length / BLOCK_BYTES };
    const hash = hashRuns([{ offset, lengthBytes: buffer.length, payload }]);
    const sums = this.keepsSums ? sumsOfWindow(window, [run], buffer) : undefined;
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

function keyOf(layerId: string, window: number): string {
  return `${layerId} ${window}`;
}

function isWholeWindow(layer: Layer, offset: number, lengthBytes: number): boolean {
  if (offset % WINDOW_BYTES !== 0) return false;
  if (lengthBytes !== Math.min(WINDOW_BYTES, layer.sizeBytes - offset)) return false;
  const run = layer.map.runAt(offset / BLOCK_BYTES, lengthBytes / BLOCK_BYTES);
  return run.held && run.count * BLOCK_BYTES === lengthBytes;
}
