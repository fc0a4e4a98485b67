import { startAwaitsNode } from '@holdfast/core/lifecycle/conclude-attachment.js';
import type { Step } from '@holdfast/core/lifecycle/step.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { holderOf, isDetachForced } from '@holdfast/core/model/volume-lifecycle.js';
import type { VolumeView } from '../ports/store.js';
import { atMost } from './patience.js';
import { commitVolume, type ReconcilerPorts } from './reconciler-ports.js';

/** Often enough that a forced detach feels immediate, and one small query a second for each step that waits. */
const LOOK_INTERVAL_MS = 1_000;

type WaitingStep = { readonly volumeId: VolumeId; readonly step: Step };

/**
 * Does a step, but leaves it when a forced detach is asked for meanwhile: the step may wait for the very node that the
 * detach is not to wait for. What was left may still take effect, as if the process had died; its commit loses, because
 * the detach has changed the volume.
 *
 * Of a start it also says when its node has fallen silent since. The commit of the start then loses too, and the start is
 * repeated at the same epoch, which the agent answers as the first time.
 *
 * @throws StorageFault `store.conflict` when it was left: look again
 */
export async function unlessForced<T extends string>(
  ports: ReconcilerPorts,
  { volumeId, step }: WaitingStep,
  work: Promise<T>,
): Promise<T> {
  for (;;) {
    const outcome = await atMost(LOOK_INTERVAL_MS, work);
    if (outcome !== undefined) return outcome;
    // Ignored: a store that does not answer now is asked again in a second, and the step goes on.
    const view = await ports.store.loadVolume(volumeId).catch(() => undefined);
    if (view === undefined) continue;
    if (isDetachForced(view.volume)) {
      throw new StorageFault('store.conflict', { publicMessage: 'a forced detach was asked for meanwhile' });
    }
    if (step.kind === 'start-engine') await noteSilence(ports, view, step.nodeId);
  }
}

async function noteSilence(
  ports: ReconcilerPorts,
  view: VolumeView,
  nodeId: Extract<Step, { kind: 'start-engine' }>['nodeId'],
): Promise<void> {
  const { volume } = view;
  // What the start is for may have been changed meanwhile.
  if (volume.lifecycle.state !== 'attaching' || holderOf(volume) !== nodeId) return;
  const changes = startAwaitsNode(view, nodeId, ports.clock.now());
  try {
    if (changes.length > 0) await commitVolume(ports, view, changes);
  } catch (error) {
    // Whatever changed the volume since has it looked at again; a store that fails is asked again in a second.
    if (!isFault(error)) throw error;
  }
}
