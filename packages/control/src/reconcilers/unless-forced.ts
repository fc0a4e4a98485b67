import { StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { isDetachForced } from '@holdfast/core/model/volume-lifecycle.js';
import { atMost } from './patience.js';
import type { ReconcilerPorts } from './reconciler-ports.js';

/** Often enough that a forced detach feels immediate, and one small query a second for each step that waits. */
const LOOK_INTERVAL_MS = 1_000;

/**
 * Does a step, but leaves it when a forced detach is asked for meanwhile: the step may wait for the very node that the
 * detach is not to wait for. What was left may still take effect, as if the process had died; its commit loses, because
 * the detach has changed the volume.
 *
 * @throws StorageFault `store.conflict` when it was left: look again
 */
export async function unlessForced<T extends string>(
  { store }: ReconcilerPorts,
  volumeId: VolumeId,
  step: Promise<T>,
): Promise<T> {
  for (;;) {
    const outcome = await atMost(LOOK_INTERVAL_MS, step);
    if (outcome !== undefined) return outcome;
    // Ignored: a store that does not answer now is asked again in a second, and the step goes on.
    const view = await store.loadVolume(volumeId).catch(() => undefined);
    if (view !== undefined && isDetachForced(view.volume)) {
      throw new StorageFault('store.conflict', { publicMessage: 'a forced detach was asked for meanwhile' });
    }
  }
}
