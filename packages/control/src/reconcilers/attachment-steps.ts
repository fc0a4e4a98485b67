/**
 * Steps of an attachment: granting, starting and stopping an engine.
 *
 * Grant: one commit names node and epoch before anything is started, so that nothing can run that is not recorded.
 * Start: fence every reachable copy at the epoch, ask what each holds, start the engine on the current ones, record.
 * All of it may be repeated at the same epoch; a start that is cut off is repeated by the next run or undone by a stop.
 *
 * What the answers mean is core's (`conclude-attachment.ts`).
 */
import {
  attachmentGranted,
  copiesAwaited,
  engineStarted,
  engineStopped,
  type GrantIdentity,
  type MissingCopies,
  startAwaitsNode,
  startRefused,
  surveyOfMissing,
} from '@holdfast/core/lifecycle/conclude-attachment.js';
import { concludeSalvage } from '@holdfast/core/lifecycle/conclude-salvage.js';
import { decideStart, WAITING_FOR_COPIES } from '@holdfast/core/lifecycle/decide-start.js';
import type { StepOf } from '@holdfast/core/lifecycle/step.js';
import { isFault, type StorageFault } from '@holdfast/core/model/faults.js';
import type { ReplicaId } from '@holdfast/core/model/ids.js';
import { grantOf, holderOf, salvageOf } from '@holdfast/core/model/volume-lifecycle.js';
import { settingsOf } from '@holdfast/core/settings/engine-maps.js';
import type { VolumeView } from '../ports/store.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { addressOf, replicaOf } from './step-lookup.js';
import { openCopies, recordsOf } from './survey-copies.js';
import { withTimeout } from './timeouts.js';

export async function grantAttachment(
  ports: ReconcilerPorts,
  view: VolumeView,
  step: StepOf<'grant-attachment'>,
): Promise<StepOutcome> {
  await commitVolume(ports, view, attachmentGranted(view, step, newIdentity(ports), ports.clock.now()));
  return 'continue';
}

function newIdentity({ random }: ReconcilerPorts): GrantIdentity {
  return { grantId: random.id(), secret: random.secret() };
}

/** An agent that refuses is tried again by the sweep; meanwhile users see why the volume does not attach. */
export async function startEngine(
  ports: ReconcilerPorts,
  view: VolumeView,
  step: StepOf<'start-engine'>,
): Promise<StepOutcome> {
  const awaited = startAwaitsNode(view, step.nodeId, ports.clock.now());
  if (awaited.length > 0) {
    // Planned again from the stored state: the start's own commits name the version that this has made.
    await commitVolume(ports, view, awaited);
    return 'continue';
  }
  try {
    return await startOnCurrentCopies(ports, view, step);
  } catch (error) {
    if (!isFault(error) || error.code.startsWith('store.')) throw error;
    const refused = { error, identity: newIdentity(ports) };
    const { isCured, changes } = startRefused(view, step.nodeId, refused, ports.clock.now());
    if (changes.length > 0) await commitVolume(ports, view, changes);
    if (isCured) return 'continue';
    throw error;
  }
}

async function startOnCurrentCopies(
  ports: ReconcilerPorts,
  view: VolumeView,
  { nodeId }: StepOf<'start-engine'>,
): Promise<StepOutcome> {
  const { volume, fleet } = view;
  const refusals = new Map<ReplicaId, StorageFault>();
  const copies = await openCopies(ports, view, refusals);
  const decision = decideStart(view, recordsOf(copies), ports.clock.now(), refusals);
  if (decision.kind === 'wait') return waitForCopies(ports, view, { ...decision, copies });
  const secretOf = (key: string) => ports.copySecrets.forEngine(key, { epoch: volume.epoch, nodeId });
  const reply = await ports.agents.startEngine(await agentOf(ports, nodeId), volume.id, {
    volumeName: volume.name,
    epoch: volume.epoch,
    grantId: volume.grantId,
    sizeBytes: volume.spec.sizeBytes,
    attachmentSecret: grantOf(volume)?.secret ?? '',
    record: decision.record,
    replicas: decision.current.map((replicaId) => addressOf(view, replicaOf(view, replicaId), secretOf)),
    replicaTimeoutMs: settingsOf(fleet.settings, volume.spec.dataEngine)['engine-replica-timeout'] * 1000,
  });
  await commitVolume(ports, view, engineStarted(view, nodeId, reply, ports.clock.now()));
  return 'continue';
}

/** Interval at which a start looks again for copies that may be about to answer. */
const LOOK_AGAIN_MS = 500;

/** Shows why it waits. A salvage that a user has requested is done if it still holds for the copies as they are now. */
async function waitForCopies(
  ports: ReconcilerPorts,
  view: VolumeView,
  missing: MissingCopies,
): Promise<StepOutcome> {
  const { volume } = view;
  const { attention } = missing;
  const now = ports.clock.now();
  const survey = surveyOfMissing(missing, now);
  if (salvageOf(volume) !== undefined && survey !== undefined) {
    const { isSalvaged, changes } = concludeSalvage(view, { attention, survey }, newIdentity(ports), now);
    await commitVolume(ports, view, changes);
    return isSalvaged ? 'continue' : 'pause';
  }
  const changes = copiesAwaited(view, missing, now);
  if (changes.length > 0) await commitVolume(ports, view, changes);
  // The sweep would bring it back only after seconds, and users wait.
  if (attention.code === WAITING_FOR_COPIES)
    await ports.queue.wake({ kind: 'volume', volumeId: volume.id }, { delayMs: LOOK_AGAIN_MS });
  return 'pause';
}

/** Sends the engine the configured timeout. Its next report confirms it. */
export async function setReplicaTimeout(
  ports: ReconcilerPorts,
  { volume }: VolumeView,
  { replicaTimeoutMs }: StepOf<'set-replica-timeout'>,
): Promise<StepOutcome> {
  const holderId = holderOf(volume);
  if (holderId === undefined) return 'pause';
  const ask = { epoch: volume.epoch, replicaTimeoutMs };
  await ports.agents.command(await agentOf(ports, holderId), volume.id, 'set-replica-timeout', ask);
  return 'pause';
}

/**
 * Longest wait for the stop of a holder by force: time to flush for a healthy one, and not more, because the detach may have been
 * forced exactly because it does not answer, or purges.
 */
const FORCED_STOP_MS_MAX = 1_000;

/** Stops the engine, then forgets the attachment. Forced: whatever the holder says, the next epoch fences it off. */
export async function stopEngine(
  ports: ReconcilerPorts,
  view: VolumeView,
  { nodeId, epoch, askAgent, mayFail }: StepOf<'stop-engine'>,
): Promise<StepOutcome> {
  if (askAgent) {
    try {
      const stopping = ports.agents.stopEngine(await agentOf(ports, nodeId), view.volume.id, epoch);
      await (mayFail ? withTimeout(FORCED_STOP_MS_MAX, stopping) : stopping);
    } catch (error) {
      if (!isFault(error) || !mayFail) throw error;
    }
  }
  await commitVolume(ports, view, engineStopped(view, nodeId, ports.clock.now()));
  return 'continue';
}
