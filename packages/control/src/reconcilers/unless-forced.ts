import { startAwaitsNode } from '@holdfast/core/lifecycle/conclude-attachment.js';
import type { Step } from '@holdfast/core/lifecycle/step.js';
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { holderOf, isDetachForced } from '@holdfast/core/model/volume-lifecycle.js';
import type { VolumeView } from '../ports/store.js';
import { commitVolume, type ReconcilerPorts } from './reconciler-ports.js';
import { withTimeout } from './timeouts.js';

/** Often enough that a forced detach feels immediate, and one small query a second for each step that waits. */
const LOOK_INTERVAL_MS = 1_000;

type WaitingStep = { readonly volumeId: VolumeId; readonly step: Step };

/**
 * Does a step, but abandons it when a forced detach is requested meanwhile: the step may wait for the very node that the detach must
 * not wait for. The abandoned step may still take effect, as if the process had died; its commit loses, because the detach has
 * changed the volume.
 *
 * For a start it also records that its node has become unreachable since. The commit of the start then loses too, and the start is
 * repeated at the same epoch, which the agent answers as the first time.
 *
 * @throws StorageFault `store.conflict` when it was abandoned: plan again
 */
export async function unlessForced<T extends string>(
  ports: ReconcilerPorts,
  { volumeId, step }: WaitingStep,
  work: Promise<T>,
): Promise<T> {
  for (;;) {
    const outcome = await withTimeout(LOOK_INTERVAL_MS, work);
    if (outcome !== undefined) return outcome;
    // Ignored: a store that does not answer now is queried again in a second, and the step continues.
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
  // The purpose of the start may have changed meanwhile.
  if (volume.lifecycle.state !== 'attaching' || holderOf(volume) !== nodeId) return;
  const changes = startAwaitsNode(view, nodeId, ports.clock.now());
  try {
    if (changes.length > 0) await commitVolume(ports, view, changes);
  } catch (error) {
    // Any other change of the volume leads to a new plan; a store that fails is queried again in a second.
    if (!isFault(error)) throw error;
  }
}
