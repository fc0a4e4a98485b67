/**
 * Steps that change a volume's layers as a whole (purge, revert, expand), or read which there are.
 *
 * Revert and expand are done when the engine answers. A purge goes on behind its answer: the attachment that was asked is
 * recorded, and the layers are read until the engine says that it has ended. Each call may be repeated.
 */

import { layerObservation } from '@holdfast/core/lifecycle/layer-observation.js';
import type { LayerCommand, VolumeLayers } from '@holdfast/core/model/agent-protocol.js';
import type { VolumePatch } from '@holdfast/core/model/changes.js';
import { Bug, type FaultCode, isFault } from '@holdfast/core/model/faults.js';
import type { LayerTask } from '@holdfast/core/model/layer-task.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { volumeEvent } from '@holdfast/core/model/volume-facts.js';
import type { AgentTarget } from '../ports/agent-client.js';
import type { Change, VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';

/** How soon an engine that is busy is asked again. */
const POLL_MS = 500;
/** Refusals after which a task is given up: with pauses of five seconds, half a minute. It holds rebuilds back. */
const TRIES_MAX = 6;
/** What no later try would change. */
const FINAL: ReadonlySet<FaultCode> = new Set([
  'volume.in_use',
  'snapshot.not_found',
  'replica.too_many_layers',
  'request.invalid',
]);

export async function changeLayers(ports: ReconcilerPorts, view: VolumeView): Promise<StepOutcome> {
  const { volume } = view;
  const task = volume.layerTask;
  if (task === undefined) return 'pause';
  try {
    await askEngine(ports, view, commandOf(task, volume.epoch));
  } catch (error) {
    if (!isFault(error) || error.code.startsWith('store.')) throw error;
    await commitVolume(ports, view, refused(ports, view, task, error));
    return 'continue';
  }
  if (task.kind !== 'purge') return recordLayers(ports, view, task);
  const layerTask: LayerTask = { ...task, startedEpoch: volume.epoch, trouble: undefined };
  await commitVolume(ports, view, [{ kind: 'volume.patch', volumeId: volume.id, patch: { layerTask } }]);
  return 'continue';
}

export function readLayers(ports: ReconcilerPorts, view: VolumeView): Promise<StepOutcome> {
  return recordLayers(ports, view, undefined);
}

/** Records which layers there are now. While the engine is busy it is asked again soon. */
export async function recordLayers(
  ports: ReconcilerPorts,
  view: VolumeView,
  finished: LayerTask | undefined,
): Promise<StepOutcome> {
  const layers = await askLayers(ports, view);
  const changes = layerObservation(view, layers, ports.clock.now(), finished);
  if (changes.length > 0) await commitVolume(ports, view, changes);
  if (layers.busy === '') return changes.length > 0 ? 'continue' : 'pause';
  await ports.queue.wake({ kind: 'volume', volumeId: view.volume.id }, { delayMs: POLL_MS });
  return 'pause';
}

/** @throws StorageFault what the agent says, `agent.unreachable` */
export async function askEngine(
  ports: ReconcilerPorts,
  { volume }: VolumeView,
  command: LayerCommand,
): Promise<void> {
  await ports.agents.changeLayers(await engineAgent(ports, volume), volume.id, command);
}

async function askLayers(ports: ReconcilerPorts, { volume }: VolumeView): Promise<VolumeLayers> {
  return ports.agents.readLayers(await engineAgent(ports, volume), volume.id, volume.epoch);
}

function engineAgent(ports: ReconcilerPorts, { id, attachedNodeId }: Volume): Promise<AgentTarget> {
  if (attachedNodeId === undefined) throw new Bug(`the plan asks the engine of volume ${id}, which has none`);
  return agentOf(ports, attachedNodeId);
}

function commandOf(task: LayerTask, epoch: number): LayerCommand {
  switch (task.kind) {
    case 'purge':
      return { kind: 'purge', epoch };
    case 'revert':
      return { kind: 'revert', epoch, snapshotId: task.snapshotId, taskId: task.id };
    case 'expand':
      return { kind: 'expand', epoch, sizeBytes: task.sizeBytes };
  }
}

/**
 * An engine that does not answer may have done it, and one that is busy will be free: these are no refusals, and it is
 * asked again for as long as it takes.
 */
function refused(
  ports: ReconcilerPorts,
  view: VolumeView,
  task: LayerTask,
  error: { code: FaultCode; message: string },
): Change[] {
  const now = ports.clock.now();
  const isAnswer = error.code !== 'agent.unreachable' && !error.code.startsWith('engine.');
  const tries = task.tries + (isAnswer ? 1 : 0);
  const { id: volumeId, name } = view.volume;
  if (!FINAL.has(error.code) && tries < TRIES_MAX) {
    const layerTask: LayerTask = { ...task, tries, trouble: { message: error.message, at: now } };
    // The next try of what was refused is behind all volumes that wait now. What got no answer may be under way.
    const patch: VolumePatch = isAnswer ? { layerTask, taskAdmittedAt: undefined } : { layerTask };
    return [{ kind: 'volume.patch', volumeId, patch }];
  }
  const message = `the ${task.kind} of volume ${name} was given up: ${error.message}`;
  return [
    { kind: 'volume.patch', volumeId, patch: { layerTask: undefined } },
    ...(task.kind === 'expand'
      ? view.replicas.map((replica) => givenBack(view, replica, task.fromBytes))
      : []),
    {
      kind: 'event',
      event: volumeEvent(view, now, { type: 'VolumeTaskFailed', severity: 'warning', message }),
    },
  ];
}

/** What was booked for an expansion that does not happen. */
function givenBack({ fleet }: VolumeView, { id, diskId, sizeBytes }: Replica, fromBytes: number): Change {
  const booking =
    diskId === undefined
      ? undefined
      : {
          diskId,
          sizeBytes: fromBytes - sizeBytes,
          limitBytes: Number.MAX_SAFE_INTEGER,
          ifSettingsVersion: fleet.settingsVersion,
        };
  return { kind: 'replica.resize', replicaId: id, sizeBytes: fromBytes, booking };
}
