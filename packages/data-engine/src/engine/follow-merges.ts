/**
 * Catch-up of merges on a returning copy: layers that the other copies no longer have are merged into the next
 * younger one here too (docs/design/rebuild.md). Then both sides have the same layers again, and checksums that prove that the
 * copy holds a layer stay valid.
 *
 * A merge changes the content of no remaining layer, so it is safe to stop at any point.
 */

import { type ChainFacts, childrenOf, type LayerFacts } from '../protocol/layers.js';
import type { ReplicaLink } from './replica-link.js';

export async function followMerges(
  { control }: ReplicaLink,
  epoch: number,
  source: ChainFacts,
  requireGoingOn: () => void,
): Promise<void> {
  const own = await control.command('chain', { epoch });
  const gone = merged(own, source);
  const unwanted = new Set(source.layers.filter(({ removed }) => removed).map(({ id }) => id));
  // Marks all of them first: the layer of a drop mark blocks its parent until it is deleted itself.
  for (const layer of own.layers) {
    if (layer.removed || !(gone.includes(layer) || unwanted.has(layer.id))) continue;
    await control.command('mark-removed', { epoch, layerId: layer.id });
  }
  for (const { id: layerId } of gone) {
    for (let next: number | null = 0; next !== null; ) {
      requireGoingOn();
      const reply: { next: number | null } = await control.command('purge', {
        epoch,
        layerId,
        firstWindow: next,
      });
      next = reply.next;
    }
  }
}

/** Frozen layers, oldest first, that the source no longer has, and that have a frozen child. */
function merged({ layers, head }: ChainFacts, source: ChainFacts): LayerFacts[] {
  const theirs = new Set(source.layers.map(({ id }) => id));
  // The head's parent is kept: it marks the point up to which the copy took part.
  return layers.filter(
    ({ id }) => !theirs.has(id) && id !== head.parentId && childrenOf(layers, id).length === 1,
  );
}
