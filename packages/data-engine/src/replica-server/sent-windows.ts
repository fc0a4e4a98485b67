/**
 * Hashes of the windows that a copy has lately sent to rebuilds, taken from the very bytes that it read from its disk: the target
 * asks for them once it has written these, and the source need not read its disk a second time.
 */
import { BLOCK_BYTES, KIB, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import type { Layer } from '../layers/layer.js';
import { sumsOfWindow } from '../layers/range-sums.js';
import { WINDOW_BLOCKS } from '../layers/window-buffers.js';
import { hashRuns } from '../layers/window-hash.js';
import type { Payload } from '../nbd/export.js';
import type { HeldRun } from '../nbd/held-windows.js';

/**
 * As many as are remembered: 2 GiB of data. A target asks for a part of 128 MiB as soon as it has written it; the hash of a window
 * that it asks for later is read from the disk. Each takes about 200 bytes.
 */
const WINDOWS_MAX = 512;

/** Most bytes of a window that are kept until all of it was read. */
const BEGUN_BYTES_MAX = 256 * KIB;
/** As many windows as a target copies at once, from several rebuilds. At most 8 MiB. */
const BEGUN_MAX = 32;

type SentWindow = {
  readonly layer: Layer;
  /** Of the layer's map when the window was read. */
  readonly changes: number;
  readonly hash: string;
  readonly sums: Buffer | undefined;
};

/** A read of a layer for a rebuild. */
export type WindowRead = { readonly layerId: string; readonly layer: Layer; readonly offset: number };

/** A window of which the layer holds little, and of which not all was read yet. */
type BegunWindow = {
  readonly layer: Layer;
  readonly changes: number;
  /** Length of each run of held blocks that was not read yet, by its offset. */
  readonly missing: Map<number, number>;
  /** Copies of what was read. */
  readonly runs: HeldRun[];
};

export class SentWindows {
  private readonly windows = new Map<string, SentWindow>();
  private readonly begun = new Map<string, BegunWindow>();

  /** @param keepsSums whether the copy keeps range checksums, which then are computed as well */
  constructor(private readonly keepsSums: boolean) {}

  get size(): number {
    return this.windows.size;
  }

  /**
   * Notes the hash of a window once all that the layer holds in it was read: as one whole window, which most are of a layer that holds
   * much, or run by run, of a layer that holds little.
   *
   * @param changes of the layer's map before it was read
   */
  note(read: WindowRead, changes: number, payload: Payload): void {
    const [buffer] = payload;
    if (buffer === undefined || payload.length > 1) return;
    if (isWholeWindow(read, buffer.length)) this.noteWhole(read, changes, buffer);
    else if (!this.keepsSums && buffer.length <= BEGUN_BYTES_MAX) this.noteRun(read, changes, buffer);
  }

  /** The hash of a window that was sent, once; `undefined` if it is not known, or the layer has changed since. */
  take(layerId: string, layer: Layer, window: number): Pick<SentWindow, 'hash' | 'sums'> | undefined {
    const key = keyOf(layerId, window);
    const found = this.windows.get(key);
    this.windows.delete(key);
    return found?.layer === layer && found.changes === layer.map.changes ? found : undefined;
  }

  private noteWhole({ layerId, layer, offset }: WindowRead, changes: number, buffer: Buffer): void {
    const window = offset / WINDOW_BYTES;
    const run = { first: window * WINDOW_BLOCKS, count: buffer.length / BLOCK_BYTES };
    const hash = hashRuns([{ offset, lengthBytes: buffer.length, payload: [buffer] }]);
    const sums = this.keepsSums ? sumsOfWindow(window, [run], buffer) : undefined;
    keep(this.windows, keyOf(layerId, window), { layer, changes, hash, sums }, WINDOWS_MAX);
  }

  private noteRun({ layerId, layer, offset }: WindowRead, changes: number, buffer: Buffer): void {
    const window = Math.floor(offset / WINDOW_BYTES);
    const key = keyOf(layerId, window);
    let begun = this.begun.get(key);
    if (begun === undefined || begun.layer !== layer || begun.changes !== changes) {
      begun = { layer, changes, missing: runsOf(layer, window), runs: [] };
      keep(this.begun, key, begun, BEGUN_MAX);
    }
    if (begun.missing.get(offset) !== buffer.length) return;
    begun.missing.delete(offset);
    begun.runs.push({ offset, lengthBytes: buffer.length, payload: [Buffer.from(buffer)] });
    if (begun.missing.size > 0) return;
    this.begun.delete(key);
    const hash = hashRuns(begun.runs.sort((a, b) => a.offset - b.offset));
    keep(this.windows, key, { layer, changes, hash, sums: undefined }, WINDOWS_MAX);
  }
}

/** The oldest makes room for the newest. */
function keep<T>(map: Map<string, T>, key: string, value: T, countMax: number): void {
  const [oldest] = map.keys();
  if (map.size >= countMax && oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

/** Runs of blocks that the layer holds in a window, none of them if that is much. */
function runsOf({ map }: Layer, window: number): Map<number, number> {
  const runs = new Map<number, number>();
  const first = window * WINDOW_BLOCKS;
  let bytes = 0;
  for (const run of map.heldRuns(first, Math.min(first + WINDOW_BLOCKS, map.blockCount))) {
    const lengthBytes = run.count * BLOCK_BYTES;
    runs.set(run.first * BLOCK_BYTES, lengthBytes);
    bytes += lengthBytes;
    if (bytes > BEGUN_BYTES_MAX) return new Map();
  }
  return runs;
}

function keyOf(layerId: string, window: number): string {
  return `${layerId} ${window}`;
}

function isWholeWindow({ layer, offset }: WindowRead, lengthBytes: number): boolean {
  if (offset % WINDOW_BYTES !== 0) return false;
  if (lengthBytes !== Math.min(WINDOW_BYTES, layer.sizeBytes - offset)) return false;
  const run = layer.map.runAt(offset / BLOCK_BYTES, lengthBytes / BLOCK_BYTES);
  return run.held && run.count * BLOCK_BYTES === lengthBytes;
}
