/**
 * Keeps chains short: each rebuild leaves a system snapshot behind, and the next one merges those away before it
 * takes its own, so that a volume holds at most two of them however often it is rebuilt.
 *
 * Each copy is treated by itself; one that fails here keeps its longer chain until the next rebuild.
 */
import type { ReplicaLink } from '../engine/replica-link.js';

export async function mergeSystemLayers(
  copies: readonly ReplicaLink[],
  epoch: number,
  requireGoingOn: () => void,
): Promise<void> {
  await Promise.all(copies.map((copy) => mergeOne(copy, epoch, requireGoingOn).catch(() => undefined)));
  requireGoingOn();
}

async function mergeOne({ control }: ReplicaLink, epoch: number, requireGoingOn: () => void): Promise<void> {
  const { layers } = await control.command('chain', { epoch });
  for (const [index, layer] of layers.entries()) {
    if (layers[index - 1]?.origin !== 'system') continue;
    // Ends: each answer is a later window of the layer, or null.
    for (let next: number | null = 0; next !== null; ) {
      requireGoingOn();
      const reply: { next: number | null } = await control.command('merge-down', {
        epoch,
        layerId: layer.id,
        firstWindow: next,
      });
      next = reply.next;
    }
  }
}
