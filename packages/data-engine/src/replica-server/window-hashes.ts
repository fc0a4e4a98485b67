import type { Layer } from '../layers/layer.js';
import type { RangeSums } from '../layers/range-sums.js';
import { hashWindow, nextHeldWindow } from '../layers/window-hash.js';
import type { WindowHashes } from '../protocol/pull.js';

/** Windows hashed for one answer: 128 MiB of data, well below a second, so that no request takes long. */
const WINDOWS_PER_ANSWER = 32;

/** Windows in flight: one is read while another is hashed. */
const WINDOWS_AT_ONCE = 2;

/** Hashes the non-empty windows of a layer before `endWindow`, from its current files. */
export async function windowHashes(
  layer: Layer,
  firstWindow: number,
  endWindow: number,
  sums?: RangeSums,
): Promise<WindowHashes> {
  const windows: number[] = [];
  let next = nextHeldWindow(layer, firstWindow);
  while (next !== undefined && next < endWindow && windows.length < WINDOWS_PER_ANSWER) {
    windows.push(next);
    next = nextHeldWindow(layer, next + 1);
  }
  const hashes: [number, string][] = [];
  for (let at = 0; at < windows.length; at += WINDOWS_AT_ONCE) {
    const group = windows.slice(at, at + WINDOWS_AT_ONCE);
    const hashed = await Promise.all(group.map((window) => hashWindow(layer, window, sums)));
    for (const [index, window] of group.entries()) hashes.push([window, hashed[index] ?? '']);
  }
  return { hashes, next: next ?? null };
}
