/**
 * Conclusions from the answers to an attachment's steps: the record of a grant, the meaning of a start that was answered, refused or
 * lacks copies, and the state after the engine has stopped.
 */

import type { EngineReport } from '../model/agent-protocol.js';
import type { Change, ReplicaPatch, VolumePatch } from '../model/changes.js';
import { Bug, newestEpochOf, type StorageFault } from '../model/faults.js';
import type { NodeId } from '../model/ids.js';
import type { Replica, ReplicaFailure } from '../model/replica.js';
import type { CopiesSurvey, SurveyedCopy } from '../model/salvage.js';
import type { FleetView, VolumeView } from '../model/views.js';
import type { Attention, Volume } from '../model/volume.js';
import {
  activeRebuild,
  diskById,
  isOnReadyNode,
  nodeById,
  nodeName,
  placeLostSince,
  volumeEvent,
} from '../model/volume-facts.js';
import {
  afterGrant,
  afterNewSecret,
  afterStartChange,
  afterStop,
  type EngineGrant,
  isDetachForced,
  isRepairing,
  requestOf,
  surveyOf,
  type VolumeEndpoint,
} from '../model/volume-lifecycle.js';
import { NODE_UNANSWERING } from '../policy/decide-attach.js';
import { COPIES_MISSING } from '../policy/decide-salvage.js';
import { isMissed } from '../policy/node-liveness.js';
import { isFaulted } from './decide-start.js';
import { rebuildFailed } from './plan-observation.js';
import { robustnessEvents } from './plan-status.js';
import { startCures } from './start-obstacles.js';

/** Random parts of a grant: the caller makes them, because core has no randomness. */
export type GrantIdentity = { readonly grantId: string; readonly secret: string };

/** Changes that name node and epoch before any engine is started: no engine runs that is not recorded. */
export function attachmentGranted(
  view: VolumeView,
  { nodeId, why }: { nodeId: NodeId; why: string },
  identity: GrantIdentity,
  now: Date,
): Change[] {
  const { volume, fleet } = view;
  const request = requestOf(volume);
  if (request === undefined) throw new Bug(`volume ${volume.id} was granted without a request`);
  const { grantId, secret } = identity;
  const grant: EngineGrant = { nodeId, bootId: nodeById(fleet, nodeId)?.bootId, secret };
  const message = `volume ${volume.name} attaches on ${nodeName(fleet, nodeId)}: ${why}`;
  return [
    patchOf(volume, {
      lifecycle: afterGrant(volume.lifecycle, request, grant),
      epoch: volume.epoch + 1,
      grantId,
      attention: undefined,
    }),
    ...clearedModes(view),
    { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeAttaching', message }) },
  ];
}

/** Changes of a start that the engine's agent has answered. */
export function engineStarted(
  view: VolumeView,
  nodeId: NodeId,
  { report, endpoint }: { report: EngineReport; endpoint: VolumeEndpoint },
  now: Date,
): Change[] {
  const { volume, fleet, replicas } = view;
  const { lifecycle } = volume;
  if (lifecycle.state !== 'attaching' || lifecycle.grant === undefined)
    throw new Bug(`an engine was started for volume ${volume.id}, which is ${lifecycle.state}`);
  const { request, grant } = lifecycle;
  const message = `volume ${volume.name} is served on ${nodeName(fleet, nodeId)}`;
  return [
    patchOf(volume, {
      lifecycle: { state: 'attached', request, grant, endpoint: addressOf(fleet, nodeId, endpoint) },
      record: report.record,
      restoredAt: undefined,
      attention: undefined,
    }),
    ...replicas.flatMap((replica) => modeAtStart(view, replica, report, now)),
    { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeAttached', message }) },
  ];
}

/** The address under which clients reach an engine: where the node's heartbeats, which are checked, say that it serves. */
function addressOf(fleet: FleetView, nodeId: NodeId, endpoint: VolumeEndpoint): VolumeEndpoint {
  const { nbdHost = endpoint.host, nbdPort = endpoint.port } = nodeById(fleet, nodeId) ?? {};
  return { ...endpoint, host: nbdHost, port: nbdPort };
}

/** Upper bound of an epoch that a copy may report and that is believed: an epoch grows by one with each attach. */
const EPOCH_REPORTED_MAX = 2 ** 48;

/** `isCured`: the volume can go on at once. Otherwise the start is tried again later, and users see why. */
export type RefusedStart = { readonly isCured: boolean; readonly changes: Change[] };

/**
 * Conclusion from a start that was refused.
 *
 * When the copies have been opened at an epoch that the database does not know, or under another grant of this one,
 * although the volume's row is the current one (the commit is refused otherwise), the database has lost commits or was
 * restored from a backup. Its next grant is above all that the copies report, and fences off any engine that still runs.
 */
export function startRefused(
  view: VolumeView,
  nodeId: NodeId,
  { error, identity }: { error: StorageFault; identity: GrantIdentity },
  now: Date,
): RefusedStart {
  const { volume, fleet } = view;
  const newest = newestEpochOf(error);
  if (newest !== undefined && newest >= volume.epoch && newest < EPOCH_REPORTED_MAX)
    return { isCured: true, changes: epochRaised(view, newest, identity, now) };
  const node = nodeName(fleet, nodeId);
  const attention = {
    code: 'EngineStartFailed',
    message: `the engine does not start on node ${node}: ${error.message}`,
    cures: [...(error.details.cures ?? startCures(view, error.code, node))],
    since: volume.attention?.since ?? now,
  };
  return { isCured: false, changes: unlessKnown(view, { attention }, []) };
}

/**
 * Records that the node of a start has missed a heartbeat, before the start and while its calls are on their way: they may take their
 * whole time, and users wait. The result of an earlier try stays.
 */
export function startAwaitsNode({ volume, fleet }: VolumeView, nodeId: NodeId, now: Date): Change[] {
  const node = nodeById(fleet, nodeId);
  const isSilent = node !== undefined && fleet.listening !== undefined && isMissed(node, fleet.listening);
  if (!isSilent || volume.attention !== undefined) return [];
  const { name, lastHeartbeatAt: since = now } = node;
  const attention = {
    code: NODE_UNANSWERING,
    message: `node ${name} has not answered since ${since.toISOString()}: the volume is attached there when it does`,
    cures: [`look at node ${name}, and start its agent`, 'detach the volume, and attach it on another node'],
    since,
  };
  return [patchOf(volume, { attention })];
}

function epochRaised(view: VolumeView, newest: number, identity: GrantIdentity, now: Date): Change[] {
  const { volume } = view;
  const epoch = newest + 1;
  const message =
    `the database is older than the copies of volume ${volume.name}: it had granted epoch ${volume.epoch}, they know ` +
    `${newest}. It goes on at ${epoch}`;
  return [
    patchOf(volume, { epoch, ...grantedAnew(volume, identity) }),
    { kind: 'event', event: volumeEvent(view, now, { type: 'EpochRaised', message }) },
  ];
}

/** The grant of a start that has not begun, under a new epoch; an earlier grant named another one. */
export function grantedAnew(
  { lifecycle }: Pick<Volume, 'lifecycle'>,
  { grantId, secret }: GrantIdentity,
): Pick<VolumePatch, 'grantId' | 'lifecycle'> {
  return { grantId, lifecycle: afterNewSecret(lifecycle, secret) };
}

/** Copies as a start found them that could not begin, and why it could not. */
export type MissingCopies = Pick<CopiesSurvey, 'copies' | 'claimedBy'> & { readonly attention: Attention };

/** State of the copies when some are missing; `undefined` when the start waits for another reason. */
export function surveyOfMissing(
  { copies, attention, claimedBy }: MissingCopies,
  now: Date,
): CopiesSurvey | undefined {
  if (attention.code !== COPIES_MISSING) return undefined;
  return claimedBy === undefined ? { takenAt: now, copies } : { takenAt: now, copies, claimedBy };
}

/** Changes of a start that waits for copies: why it waits, and with which copies a user could go on. */
export function copiesAwaited(view: VolumeView, missing: MissingCopies, now: Date): Change[] {
  const { attention } = missing;
  const robustness = isFaulted(attention, now) ? ('faulted' as const) : view.volume.robustness;
  const lifecycle = afterStartChange(view.volume.lifecycle, { survey: surveyOfMissing(missing, now) });
  const patch = { attention, lifecycle, robustness };
  return unlessKnown(view, patch, robustnessEvents(view, robustness, now));
}

/** Changes that forget the attachment, once its engine has stopped or is fenced off by the next epoch. */
export function engineStopped(view: VolumeView, nodeId: NodeId, now: Date): Change[] {
  const { volume, fleet } = view;
  const message = `volume ${volume.name} was detached from ${nodeName(fleet, nodeId)}`;
  return [
    patchOf(volume, {
      lifecycle: afterStop(volume.lifecycle),
      attention: undefined,
    }),
    ...clearedModes(view),
    ...endedRebuild(view, now),
    { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeDetached', message }) },
  ];
}

/** A rebuild ends with its engine; its target, half written, counts as failed until it is rebuilt. */
function endedRebuild(view: VolumeView, now: Date): Change[] {
  const rebuild = activeRebuild(view);
  if (rebuild === undefined) return [];
  const target = view.replicas.find(({ id }) => id === rebuild.targetReplicaId);
  const next = requestOf(view.volume);
  const message =
    next === undefined
      ? 'the volume was detached: it is rebuilt at its next attach, or while it is detached where that is wanted'
      : 'another attachment has taken the volume over: it is queued again there';
  const error = { code: 'engine.not_found', message };
  // By force its engine is given up with a node that does not answer, and nothing was called off.
  const isCalledOff = !isDetachForced(view.volume);
  return rebuildFailed(view, { rebuild, target, error, triesSpent: 0, isCalledOff }, now);
}

/** Modes are reported by a running engine; without one there are none. A failure stays as it was seen. */
function clearedModes({ replicas }: VolumeView): Change[] {
  return replicas
    .filter(({ mode, failedAt }) => mode !== undefined && failedAt === undefined)
    .map(({ id }) => ({ kind: 'replica.patch', replicaId: id, patch: { mode: undefined } }));
}

/** Copies that the engine started on are current whatever was recorded of them; full copies that it left out are not. */
function modeAtStart(view: VolumeView, replica: Replica, report: EngineReport, now: Date): Change[] {
  const mode = report.replicas.find(({ replicaId }) => replicaId === replica.id)?.mode;
  if (mode === 'RW') {
    const patch: ReplicaPatch = {
      mode,
      healthyAt: replica.healthyAt ?? now,
      lastHealthyAt: now,
      failedAt: undefined,
      failure: undefined,
      rebuildRetryCount: 0,
    };
    return [{ kind: 'replica.patch', replicaId: replica.id, patch }];
  }
  const wasFull = replica.healthyAt !== undefined && replica.failedAt === undefined;
  if (!wasFull) return [];
  const failure = failureAtStart(view, replica);
  // The worker attaches once it does not wait for the place any more: that wait does not begin anew.
  const lostSince = isRepairing(view.volume) ? placeLostSince(replica, view.fleet) : undefined;
  const patch: ReplicaPatch = { mode: 'ERR', failedAt: lostSince ?? now, lastFailedAt: now, failure };
  return [{ kind: 'replica.patch', replicaId: replica.id, patch }];
}

function failureAtStart({ fleet }: VolumeView, replica: Replica): ReplicaFailure {
  const node = nodeName(fleet, replica.nodeId);
  if (!isOnReadyNode(replica, fleet))
    return { reason: 'NodeDown', message: `node ${node} did not answer at the attach` };
  if (placeLostSince(replica, fleet) === undefined)
    return { reason: 'NotCurrent', message: 'its record is older than that of the other copies' };
  const disk = diskById(fleet, replica.diskId)?.name ?? 'its disk';
  return { reason: 'DiskMissing', message: `disk ${disk} of node ${node} was not ready at the attach` };
}

/** A start is tried every few seconds; the same trouble with the same copies is stored once. */
function unlessKnown(view: VolumeView, patch: VolumePatch, events: readonly Change[]): Change[] {
  const { volume } = view;
  const isKnown =
    volume.attention?.code === patch.attention?.code &&
    volume.attention?.message === patch.attention?.message &&
    textOf(surveyOf(volume)?.copies) ===
      textOf(surveyOf({ lifecycle: patch.lifecycle ?? volume.lifecycle })?.copies) &&
    volume.robustness === (patch.robustness ?? volume.robustness);
  return isKnown ? [] : [patchOf(volume, patch), ...events];
}

/** Everything of the copies but when they were asked. */
function textOf(copies: readonly SurveyedCopy[] | undefined): string {
  return (copies ?? [])
    .map(({ replicaId, record, isClean, writtenBytes }) => {
      const known = record === undefined ? '-' : `${record.epoch}.${record.dataGeneration} ${record.members}`;
      return `${replicaId} ${known} ${isClean} ${writtenBytes}`;
    })
    .join('\n');
}

function patchOf({ id: volumeId }: Volume, patch: VolumePatch): Change {
  return { kind: 'volume.patch', volumeId, patch };
}
