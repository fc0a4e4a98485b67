/**
 * Takes a layer out that nobody wants any more: one that a user has deleted, or that a rebuild left behind.
 *
 * | the layer has | what happens |
 * |---|---|
 * | nothing above it | it is dropped, with its file |
 * | one frozen layer above it | that one's blocks are copied into its file, which then is that layer's |
 * | only the head above it | blocks that the head holds durably are given back; it goes once the head is frozen |
 * | several layers above it | nothing: each of them needs it |
 * | one above it up to which a dropped copy took part | nothing, until that one is not waited for any more |
 *
 * Readers see no difference at any moment, and a crash leaves a copy that is purged again from the start.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { WINDOW_BYTES } from '../integrity/window-buffers.js';
import { nextHeldWindow } from '../integrity/window-hash.js';
import type { FrozenLayer } from './commands.js';
import type { Layer } from './layer.js';
import { childrenOf, type LayerMetadata, withMerged, withoutLeaf } from './layer-tree.js';
import { mergeStep } from './merge-layer.js';

export type PurgeStep =
  | { kind: 'nothing' }
  | { kind: 'more'; next: number }
  | { kind: 'done'; apply: (layers: readonly LayerMetadata[]) => LayerMetadata[] };

/** One step's windows when pruning: 128 MiB, so that no request takes long. */
const PRUNED_WINDOWS_PER_STEP = 32;

/** True for a layer that may go: marked by a user, or left by a rebuild and not needed for a copy that may return. */
export function isPurgeable({ origin, removed, drop }: FrozenLayer): boolean {
  return removed || (origin === 'system' && drop === null);
}

/**
 * Runs one piece of a purge that changes what files hold, a window at most, while no change of the layers runs. It throws
 * when the layers are others than the step began with: what they hold may be needed then.
 */
export type BesideWrites = (work: () => Promise<void>) => Promise<void>;

/** What a purge of the layer works on: as long as it is the same, the files are what they were taken for. */
export function familyOf(layers: readonly LayerMetadata[], layerId: string): string {
  const own = layers.find(({ id }) => id === layerId);
  const family = [own, ...childrenOf(layers, layerId)].map((layer) => `${layer?.id} ${layer?.file}`);
  return [...family, layers.at(-1)?.parentId === layerId].join();
}

export async function purgeStep(
  layers: readonly LayerMetadata[],
  layerId: string,
  firstWindow: number,
  layerIn: (file: string) => Layer,
  besideWrites: BesideWrites = (work) => work(),
): Promise<PurgeStep> {
  const own = layers.find(({ id }) => id === layerId);
  const head = layers.at(-1);
  if (own === undefined || own === head || !isPurgeable(own)) return { kind: 'nothing' };
  const [child, ...others] = childrenOf(layers, layerId);
  if (others.length > 0) return { kind: 'nothing' };
  if (child === undefined) return { kind: 'done', apply: (now) => withoutLeaf(now, layerId) };

  // A copy that was dropped there may come back, and its own head still stands on this very layer.
  if (child.drop !== null && !child.removed) return { kind: 'nothing' };

  const older = layerIn(own.file);
  const newer = layerIn(child.file);
  if (child === head) return pruneStep(older, newer, firstWindow, besideWrites);
  // The checksum of what the merged layer becomes is not known yet; the older file's own is void from here on.
  const next = await mergeStep({ older, newer, isLowest: own.parentId === null }, firstWindow, besideWrites);
  if (next !== undefined) return { kind: 'more', next };
  await older.flush();
  return { kind: 'done', apply: (now) => withMerged(now, layerId) };
}

/** Gives back what the head covers. Only bits that are durable count: a crash may take others away again. */
async function pruneStep(
  older: Layer,
  head: Layer,
  firstWindow: number,
  besideWrites: BesideWrites,
): Promise<PurgeStep> {
  const covered: { first: number; count: number }[] = [];
  let window = nextHeldWindow(older, firstWindow);
  for (let step = 0; step < PRUNED_WINDOWS_PER_STEP && window !== undefined; step += 1) {
    const first = (window * WINDOW_BYTES) / BLOCK_BYTES;
    const end = Math.min(first + WINDOW_BYTES / BLOCK_BYTES, older.map.blockCount);
    for (const run of older.map.heldRuns(first, end)) {
      covered.push(...head.map.heldRuns(run.first, run.first + run.count));
    }
    window = nextHeldWindow(older, window + 1);
  }
  if (covered.length > 0) {
    await head.flush();
    for (const { first, count } of covered) {
      await besideWrites(() => older.forget(first * BLOCK_BYTES, count * BLOCK_BYTES));
    }
    await older.flush();
  }
  return window === undefined ? { kind: 'nothing' } : { kind: 'more', next: window };
}
