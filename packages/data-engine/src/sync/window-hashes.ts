import { hashWindow, nextHeldWindow } from '../integrity/window-hash.js';
import type { WindowHashes } from '../replica/commands.js';
import type { Layer } from '../replica/layer.js';

/** Windows hashed for one answer: 128 MiB of data, well below a second, so that no request takes long. */
const WINDOWS_PER_ANSWER = 32;

/** Hashes the next windows of a layer that hold anything, as its files have them now. */
export async function windowHashes(layer: Layer, firstWindow: number): Promise<WindowHashes> {
  const hashes: [number, string][] = [];
  let window = nextHeldWindow(layer, firstWindow);
  while (window !== undefined && hashes.length < WINDOWS_PER_ANSWER) {
    const hash = await hashWindow(layer, window);
    if (hash !== undefined) hashes.push([window, hash]);
    window = nextHeldWindow(layer, window + 1);
  }
  return { hashes, next: window ?? null };
}
