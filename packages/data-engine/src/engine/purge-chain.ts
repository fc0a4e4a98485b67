/**
 * Purge of a volume's chains: removes layers that users have deleted and those that rebuilds have left behind, on
 * every copy, from the lowest up. So a volume keeps at most one rebuild layer for long, however often it is rebuilt.
 *
 * Copies are purged independently; one that fails keeps its longer chain until the next purge.
 */

import { isPurgeable, type LayerFacts } from '../protocol/layers.js';
import type { ReplicaLink } from './replica-link.js';

/** Maximum drop marks that are kept; a copy with an older one is compared as a whole if it ever returns. */
const DROP_LAYERS_MAX = 4;

export async function purgeChains(
  copies: readonly ReplicaLink[],
  epoch: number,
  requireGoingOn: () => void,
): Promise<void> {
  const current = new Set(copies.map(({ replicaId }) => replicaId));
  await Promise.all(
    // Ignored: the copy keeps its longer chain until the next purge.
    copies.map((copy) => purgeOne(copy, epoch, current, requireGoingOn).catch(() => undefined)),
  );
  requireGoingOn();
}

async function purgeOne(
  { control }: ReplicaLink,
  epoch: number,
  current: ReadonlySet<string>,
  requireGoingOn: () => void,
): Promise<void> {
  const { layers } = await control.command('chain', { epoch });
  const unneeded = new Set(unneededMarks(layers, current));
  for (const layerId of unneeded) await control.command('mark-removed', { epoch, layerId });
  for (const layer of layers) {
    if (!isPurgeable(layer) && !unneeded.has(layer.id)) continue;
    // Terminates: each answer is a later window of the layer, or null.
    for (let next: number | null = 0; next !== null; ) {
      requireGoingOn();
      const reply: { next: number | null } = await control.command('purge', {
        epoch,
        layerId: layer.id,
        firstWindow: next,
      });
      next = reply.next;
    }
  }
}

/**
 * Drop marks that are no longer needed: their copies are back, were dropped again later, or are no longer waited for.
 */
function unneededMarks(layers: readonly LayerFacts[], current: ReadonlySet<string>): string[] {
  const marks = layers.filter(({ drop, removed }) => drop !== null && !removed);
  const waiting = marks.filter((mark, index) =>
    mark.drop?.replicaIds.some(
      (id) => !current.has(id) && !marks.slice(index + 1).some(({ drop }) => drop?.replicaIds.includes(id)),
    ),
  );
  const kept = waiting.slice(-DROP_LAYERS_MAX);
  return marks.filter((mark) => !kept.includes(mark)).map(({ id }) => id);
}
