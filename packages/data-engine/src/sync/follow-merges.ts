/**
 * Has a copy that was away do the merges that the others have done meanwhile: layers that they no longer have are merged
 * into the next younger one here too (docs/adr/0138). Then both sides have the same layers again, and what proves that the
 * copy holds a layer goes on proving it.
 *
 * A merge changes what none of the remaining layers reads as, so it harms nothing wherever it stops.
 */
import type { ReplicaLink } from '../engine/replica-link.js';
import type { ChainFacts, LayerFacts } from '../replica/commands.js';
import { childrenOf } from '../replica/layer-tree.js';

export async function followMerges(
  { control }: ReplicaLink,
  epoch: number,
  source: ChainFacts,
  requireGoingOn: () => void,
): Promise<void> {
  const own = await control.command('chain', { epoch });
  const gone = merged(own, source);
  const unwanted = new Set(source.layers.filter(({ removed }) => removed).map(({ id }) => id));
  // All of them first: a layer that keeps the place of a dropped copy holds its parent up until it is unwanted itself.
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

/** Frozen layers that the source has no more, and that another frozen layer stands on; the oldest first. */
function merged({ layers, head }: ChainFacts, source: ChainFacts): LayerFacts[] {
  const theirs = new Set(source.layers.map(({ id }) => id));
  // What the head stands on is where the copy left off: it says up to where the copy took part.
  return layers.filter(
    ({ id }) => !theirs.has(id) && id !== head.parentId && childrenOf(layers, id).length === 1,
  );
}
