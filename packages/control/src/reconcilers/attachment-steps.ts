/**
 * Steps of an attachment: granting, starting and stopping an engine.
 *
 * Grant: one commit names node and epoch before anything is started, so that nothing can run that is not recorded.
 * Start: fence every reachable copy at the epoch, ask what each holds, start the engine on the current ones, record.
 * All of it may be repeated at the same epoch; a start that is cut off is repeated by the next run or undone by a stop.
 */

import { decideStart, isFaulted, WAITING_FOR_COPIES } from '@holdfast/core/lifecycle/decide-start.js';
import { rebuildFailed } from '@holdfast/core/lifecycle/plan-observation.js';
import { robustnessEvents } from '@holdfast/core/lifecycle/plan-status.js';
import { startCures } from '@holdfast/core/lifecycle/start-obstacles.js';
import type { Step } from '@holdfast/core/lifecycle/step.js';
import type { EngineReport } from '@holdfast/core/model/agent-protocol.js';
import { type CopyRecord, copyRecord } from '@holdfast/core/model/copy-record.js';
import { isFault, newestEpochOf, type StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { SurveyedCopy } from '@holdfast/core/model/salvage.js';
import type { Attention, Volume } from '@holdfast/core/model/volume.js';
import {
  activeRebuild,
  isOnReadyNode,
  nodeById,
  nodeName,
  volumeEvent,
} from '@holdfast/core/model/volume-facts.js';
import { COPIES_MISSING } from '@holdfast/core/policy/decide-salvage.js';
import type { Change, ReplicaPatch, VolumePatch, VolumeView } from '../ports/store.js';
import { atMost } from './patience.js';
import { agentOf, commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { salvage } from './salvage-step.js';
import { addressOf, replicaOf } from './step-lookup.js';
import { openCopies, recordsOf, sameCopies } from './survey-copies.js';

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

export async function grantAttachment(
  ports: ReconcilerPorts,
  view: VolumeView,
  { nodeId, why }: StepOf<'grant-attachment'>,
): Promise<StepOutcome> {
  const { volume } = view;
  const patch: VolumePatch = {
    state: 'attaching',
    attachedNodeId: nodeId,
    epoch: volume.epoch + 1,
    grantId: ports.random.id(),
    attachmentSecret: ports.random.secret(),
    engineBootId: nodeById(view.fleet, nodeId)?.bootId,
    endpoint: undefined,
    detachForced: false,
    attention: undefined,
    survey: undefined,
  };
  const event = volumeEvent(view, ports.clock.now(), {
    type: 'VolumeAttaching',
    severity: 'info',
    message: `volume ${volume.name} attaches on ${nodeName(view.fleet, nodeId)}: ${why}`,
  });
  await commitVolume(ports, view, [
    { kind: 'volume.patch', volumeId: volume.id, patch },
    ...clearedModes(view),
    { kind: 'event', event },
  ]);
  return 'continue';
}

/** Modes are what a running engine says; without one there are none. A failure stays as it was seen. */
function clearedModes({ replicas }: VolumeView): Change[] {
  return replicas
    .filter(({ mode, failedAt }) => mode !== undefined && failedAt === undefined)
    .map(({ id }) => ({ kind: 'replica.patch', replicaId: id, patch: { mode: undefined } }));
}

/** An agent that says no is tried again by the sweep; meanwhile users see why the volume does not attach. */
export async function startEngine(
  ports: ReconcilerPorts,
  view: VolumeView,
  step: StepOf<'start-engine'>,
): Promise<StepOutcome> {
  try {
    return await startOnCurrentCopies(ports, view, step);
  } catch (error) {
    if (!isFault(error) || error.code.startsWith('store.')) throw error;
    const newest = newestEpochOf(error);
    if (newest !== undefined && mayRaise(view, newest)) return raiseEpoch(ports, view, newest);
    const node = nodeName(view.fleet, step.nodeId);
    const attention = {
      code: 'EngineStartFailed',
      message: `the engine does not start on node ${node}: ${error.message}`,
      cures: [...(error.details.cures ?? startCures(error.code, node))],
      since: view.volume.attention?.since ?? ports.clock.now(),
    };
    await recordAttention(ports, view, { attention });
    throw error;
  }
}

/** What a copy tells is believed within reason: an epoch grows by one with each attach. */
const EPOCH_TOLD_MAX = 2 ** 48;

function mayRaise({ volume }: VolumeView, newest: number): boolean {
  return newest >= volume.epoch && newest < EPOCH_TOLD_MAX;
}

/**
 * The copies have been opened at an epoch that the database does not know, or under another grant of this one, although
 * the volume's row is the current one: the commit is refused otherwise. So the database lost commits, or was restored
 * from a backup. What it grants next is above all that the copies tell, and fences off what may still run.
 */
async function raiseEpoch(ports: ReconcilerPorts, view: VolumeView, newest: number): Promise<StepOutcome> {
  const { volume } = view;
  const epoch = newest + 1;
  const event = volumeEvent(view, ports.clock.now(), {
    type: 'EpochRaised',
    severity: 'warning',
    message:
      `the database is older than the copies of volume ${volume.name}: it had granted epoch ${volume.epoch}, they know ` +
      `${newest}. It goes on at ${epoch}`,
  });
  const patch: VolumePatch = { epoch, grantId: ports.random.id(), attachmentSecret: ports.random.secret() };
  await commitVolume(ports, view, [
    { kind: 'volume.patch', volumeId: volume.id, patch },
    { kind: 'event', event },
  ]);
  return 'continue';
}

async function startOnCurrentCopies(
  ports: ReconcilerPorts,
  view: VolumeView,
  { nodeId }: StepOf<'start-engine'>,
): Promise<StepOutcome> {
  const { volume, fleet } = view;
  const refusals = new Map<ReplicaId, StorageFault>();
  const copies = await openCopies(ports, view, refusals);
  const found = recordsOf(copies);
  const decision = decideStart(view, found, ports.clock.now(), refusals);
  if (decision.kind === 'wait') return waitForCopies(ports, view, { copies, attention: decision.attention });
  const reply = await ports.agents.startEngine(await agentOf(ports, nodeId), volume.id, {
    volumeName: volume.name,
    epoch: volume.epoch,
    grantId: volume.grantId,
    sizeBytes: volume.spec.sizeBytes,
    attachmentSecret: volume.attachmentSecret ?? '',
    record: { ...decision.record, members: [...decision.record.members] },
    replicas: decision.current.map((replicaId) => addressOf(view, replicaOf(view, replicaId))),
    replicaTimeoutMs: fleet.settings['engine-replica-timeout'] * 1000,
  });
  const now = ports.clock.now();
  const patch: VolumePatch = {
    state: 'attached',
    endpoint: reply.endpoint,
    record: recordOf(reply.report),
    attention: undefined,
    survey: undefined,
    // What was asked for while copies were missing: they are not any more.
    salvage: undefined,
  };
  const event = volumeEvent(view, now, {
    type: 'VolumeAttached',
    severity: 'info',
    message: `volume ${volume.name} is served on ${nodeName(fleet, nodeId)}`,
  });
  await commitVolume(ports, view, [
    { kind: 'volume.patch', volumeId: volume.id, patch },
    ...view.replicas.flatMap((replica) => modeAtStart(view, replica, reply.report, now)),
    { kind: 'event', event },
  ]);
  return 'continue';
}

/** While a start waits a moment for copies that may be about to answer. */
const LOOK_AGAIN_MS = 500;

/**
 * Shows why it waits, and with what a user could go on. What they have asked for is done when it still holds for the
 * copies as they are now.
 */
async function waitForCopies(
  ports: ReconcilerPorts,
  view: VolumeView,
  { copies, attention }: { copies: readonly SurveyedCopy[]; attention: Attention },
): Promise<StepOutcome> {
  const now = ports.clock.now();
  const survey = attention.code === COPIES_MISSING ? { takenAt: now, copies } : undefined;
  if (view.volume.salvage !== undefined && survey !== undefined) {
    return salvage(ports, view, { ...view.volume, attention, survey });
  }
  const robustness = isFaulted(attention, now) ? ('faulted' as const) : view.volume.robustness;
  await recordAttention(
    ports,
    view,
    { attention, survey, robustness },
    robustnessEvents(view, robustness, now),
  );
  // The sweep would bring it back only after seconds, and users wait.
  if (attention.code === WAITING_FOR_COPIES)
    await ports.queue.wake({ kind: 'volume', volumeId: view.volume.id }, { delayMs: LOOK_AGAIN_MS });
  return 'pause';
}

async function recordAttention(
  ports: ReconcilerPorts,
  view: VolumeView,
  patch: VolumePatch,
  events: readonly Change[] = [],
): Promise<void> {
  const { volume } = view;
  const isKnown =
    volume.attention?.code === patch.attention?.code &&
    volume.attention?.message === patch.attention?.message &&
    sameCopies(volume.survey?.copies, patch.survey?.copies) &&
    volume.robustness === (patch.robustness ?? volume.robustness);
  if (isKnown) return;
  await commitVolume(ports, view, [{ kind: 'volume.patch', volumeId: volume.id, patch }, ...events]);
}

/** Copies the engine started on are current whatever was thought of them; full copies it left out are not. */
function modeAtStart(view: VolumeView, replica: Replica, report: EngineReport, now: Date): Change[] {
  const mode = report.replicas.find(({ replicaId }) => replicaId === replica.id)?.mode;
  if (mode === 'RW') {
    const patch: ReplicaPatch = {
      mode,
      healthyAt: replica.healthyAt ?? now,
      lastHealthyAt: now,
      failedAt: undefined,
      failure: undefined,
    };
    return [{ kind: 'replica.patch', replicaId: replica.id, patch }];
  }
  const wasFull = replica.healthyAt !== undefined && replica.failedAt === undefined;
  if (!wasFull) return [];
  const isDown = !isOnReadyNode(replica, view.fleet);
  const failure = isDown
    ? {
        reason: 'NodeDown',
        message: `node ${nodeName(view.fleet, replica.nodeId)} did not answer at the attach`,
      }
    : { reason: 'NotCurrent', message: 'its record is older than that of the other copies' };
  const patch: ReplicaPatch = { mode: 'ERR', failedAt: now, lastFailedAt: now, failure };
  return [{ kind: 'replica.patch', replicaId: replica.id, patch }];
}

function recordOf({ record }: EngineReport): CopyRecord {
  return copyRecord(
    record.epoch,
    record.dataGeneration,
    record.members.map((id) => asId<ReplicaId>(id)),
    record.durable,
  );
}

/**
 * Of a holder that is to be stopped by force: time to flush for one that is well, and not more, because the detach may
 * have been forced for the very reason that it does not answer, or that it purges.
 */
const FORCED_STOP_MS_MAX = 1_000;

/** Stops the engine, then forgets the attachment. Forced: whatever the holder says, the next epoch fences it off. */
export async function stopEngine(
  ports: ReconcilerPorts,
  view: VolumeView,
  { nodeId, epoch, askAgent, mayFail }: StepOf<'stop-engine'>,
): Promise<StepOutcome> {
  const { volume } = view;
  if (askAgent) {
    try {
      const stopping = ports.agents.stopEngine(await agentOf(ports, nodeId), volume.id, epoch);
      await (mayFail ? atMost(FORCED_STOP_MS_MAX, stopping) : stopping);
    } catch (error) {
      if (!isFault(error) || !mayFail) throw error;
    }
  }
  const now = ports.clock.now();
  const patch: VolumePatch = {
    state: stateAfterStop(volume),
    attachedNodeId: undefined,
    endpoint: undefined,
    attachmentSecret: undefined,
    engineBootId: undefined,
    detachForced: false,
    attention: undefined,
    survey: undefined,
    salvage: undefined,
  };
  const event = volumeEvent(view, now, {
    type: 'VolumeDetached',
    severity: 'info',
    message: `volume ${volume.name} was detached from ${nodeName(view.fleet, nodeId)}`,
  });
  await commitVolume(ports, view, [
    { kind: 'volume.patch', volumeId: volume.id, patch },
    ...clearedModes(view),
    ...endedRebuild(view, now),
    { kind: 'event', event },
  ]);
  return 'continue';
}

function stateAfterStop({ attachment, deletionRequestedAt }: Volume): Volume['state'] {
  if (deletionRequestedAt !== undefined) return 'deleting';
  return attachment === undefined ? 'detached' : 'attaching';
}

/** A rebuild ends with its engine; its target, half written, counts as failed until it is rebuilt. */
function endedRebuild(view: VolumeView, now: Date): Change[] {
  const rebuild = activeRebuild(view);
  if (rebuild === undefined) return [];
  const target = view.replicas.find(({ id }) => id === rebuild.targetReplicaId);
  const error = { code: 'engine.not_found', message: 'the volume was detached' };
  return rebuildFailed(view, { rebuild, target, error, triesSpent: 0 }, now);
}
