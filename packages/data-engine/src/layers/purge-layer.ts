/**
 * Purge step: removes a layer that is no longer needed, deleted by a user or left behind by a rebuild.
 *
 * | the layer has | what happens |
 * |---|---|
 * | no child | it is removed, with its file |
 * | one child, frozen | the child's blocks are merged into its file, which then is the child's |
 * | only the head above it | blocks that the head holds durably are freed, where they are many; it goes once the head is frozen |
 * | several children | nothing: each of them needs it |
 * | one child with a drop mark | nothing, until the dropped copy is no longer waited for |
 *
 * Readers see no difference at any moment; after a crash the purge restarts from the beginning.
 */

import { BLOCK_BYTES, PART_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { childrenOf, isPurgeable } from '../protocol/layers.js';
import type { Layer } from './layer.js';
import { type LayerMetadata, withMerged, withoutLeaf } from './layer-tree.js';
import { mergeStep } from './merge-layer.js';
import { nextHeldWindow } from './window-hash.js';

export type PurgeStep =
  | { kind: 'nothing' }
  | { kind: 'more'; next: number }
  | { kind: 'done'; apply: (layers: readonly LayerMetadata[]) => LayerMetadata[] };

const PRUNED_WINDOWS_PER_STEP = PART_BYTES / WINDOW_BYTES;
/**
 * Share of a layer's window that has to be covered before any of it is freed. A hole of 4 KiB costs a disk that discards a
 * millisecond, and copies that were purged at different times then differ, so a delta rebuild would send the surroundings. What stays
 * is less than an eighth of the layer, and is removed with it.
 */
const FREED_SHARE = 1 / 8;

/**
 * Runs one piece of a purge that changes file content, a window at most, while no layer change runs. Throws if the
 * layers differ from those the step began with: the blocks may be needed then.
 */
export type BesideWrites = (work: () => Promise<void>) => Promise<void>;

/** Identity of the layers that a purge step works on: while it is the same, their files have the expected content. */
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

  // A copy that was dropped at that layer may return, and its own head still stands on this one.
  if (child.drop !== null && !child.removed) return { kind: 'nothing' };

  const older = layerIn(own.file);
  const newer = layerIn(child.file);
  if (child === head) return pruneStep(older, newer, firstWindow, besideWrites);
  // From here on the older file's checksum is void; that of the merged content is not known yet.
  const next = await mergeStep({ older, newer, isLowest: own.parentId === null }, firstWindow, besideWrites);
  if (next !== undefined) return { kind: 'more', next };
  await older.flush();
  return { kind: 'done', apply: (now) => withMerged(now, layerId) };
}

/** Frees the blocks that the head covers. Only durable bits count: a crash may undo others. */
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
    const held = [...older.map.heldRuns(first, end)];
    const coveredHere = held.flatMap((run) => [...head.map.heldRuns(run.first, run.first + run.count)]);
    if (countOf(coveredHere) >= FREED_SHARE * countOf(held)) covered.push(...coveredHere);
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

function countOf(runs: readonly { count: number }[]): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}
