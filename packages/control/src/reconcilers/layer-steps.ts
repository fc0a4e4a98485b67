/**
 * Steps that change a volume's layers as a whole (purge, revert, expand), or read the list of layers.
 *
 * Revert and expand are done when the engine answers. A purge continues after its answer: the requested attachment is recorded, and
 * the layers are read until the engine reports the end. Each call may be repeated.
 */
import { layerTaskRefused, purgeBegun } from '@holdfast/core/lifecycle/conclude-layer-task.js';
import { layerObservation } from '@holdfast/core/lifecycle/layer-observation.js';
import { growthOfCopies, growthRefused } from '@holdfast/core/lifecycle/size-of-copies.js';
import type {
  EngineCommandName,
  EngineReply,
  EngineRequest,
  VolumeLayers,
} from '@holdfast/core/model/engine-commands.js';
import { Bug, isFault } from '@holdfast/core/model/faults.js';
import type { LayerTask } from '@holdfast/core/model/layer-task.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { layerTaskOf } from '@holdfast/core/model/volume-task.js';
import type { AgentTarget } from '../ports/agent-client.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';

/** Interval at which a busy engine is queried again. */
const POLL_MS = 500;
export async function changeLayers(ports: ReconcilerPorts, view: VolumeView): Promise<StepOutcome> {
  const { volume } = view;
  const task = layerTaskOf(volume);
  if (task === undefined) return 'pause';
  try {
    await askForTask(ports, view, task);
  } catch (error) {
    if (!isFault(error) || error.code.startsWith('store.')) throw error;
    await commitVolume(ports, view, layerTaskRefused(view, task, error, ports.clock.now()));
    return 'continue';
  }
  if (task.kind !== 'purge') return recordLayers(ports, view, task);
  await commitVolume(ports, view, purgeBegun(view, task));
  return 'continue';
}

export function readLayers(ports: ReconcilerPorts, view: VolumeView): Promise<StepOutcome> {
  return recordLayers(ports, view, undefined);
}

/** Records the present layers. A busy engine is queried again soon. */
export async function recordLayers(
  ports: ReconcilerPorts,
  view: VolumeView,
  finished: LayerTask | undefined,
): Promise<StepOutcome> {
  const layers = await askEngine(ports, view, 'layers', { epoch: view.volume.epoch });
  const isNews = await commitLayers(ports, view, layers, finished);
  if (layers.busy === '') return isNews ? 'continue' : 'pause';
  await ports.queue.wake({ kind: 'volume', volumeId: view.volume.id }, { delayMs: POLL_MS });
  return 'pause';
}

/** A larger size than is known, which a quota refuses, must not keep the rest from being recorded. */
async function commitLayers(
  ports: ReconcilerPorts,
  view: VolumeView,
  layers: VolumeLayers,
  finished: LayerTask | undefined,
): Promise<boolean> {
  const now = ports.clock.now();
  const changes = layerObservation(view, layers, now, finished);
  if (changes.length === 0) return false;
  try {
    await commitVolume(ports, view, changes);
    return true;
  } catch (error) {
    const isRefused =
      growthOfCopies(view, layers, finished) !== undefined && isFault(error, 'quota.exceeded');
    if (!isRefused) throw error;
    const { sizeBytes } = view.volume.spec;
    const others = layerObservation(view, { ...layers, sizeBytes }, now, finished);
    if (others.length === 0) return false;
    await commitVolume(ports, view, [...others, growthRefused(view, layers, error.message, now)]);
    return true;
  }
}

/** Sends a command to the engine that serves the volume. @throws StorageFault what the agent says, `agent.unreachable` */
export async function askEngine<Name extends EngineCommandName>(
  ports: ReconcilerPorts,
  { volume }: VolumeView,
  name: Name,
  ask: EngineRequest<Name>,
): Promise<EngineReply<Name>> {
  return ports.agents.command(await engineAgent(ports, volume), volume.id, name, ask);
}

function engineAgent(ports: ReconcilerPorts, volume: Volume): Promise<AgentTarget> {
  const holderId = holderOf(volume);
  if (holderId === undefined)
    throw new Bug(`the plan asks the engine of volume ${volume.id}, which has none`);
  return agentOf(ports, holderId);
}

function askForTask(ports: ReconcilerPorts, view: VolumeView, task: LayerTask): Promise<null> {
  const { epoch } = view.volume;
  switch (task.kind) {
    case 'purge':
      return askEngine(ports, view, 'purge', { epoch });
    case 'revert':
      return askEngine(ports, view, 'revert', { epoch, snapshotId: task.snapshotId, taskId: task.id });
    case 'expand':
      return askEngine(ports, view, 'expand', { epoch, sizeBytes: task.sizeBytes });
  }
}
