/**
 * Conclusions from an engine's report: modes of copies, which are full or have failed, the record, how a rebuild ended. The store
 * takes bare facts (progress, written bytes) from the heartbeat itself; not a replica's mode, because a reported mode may be older
 * than later decisions.
 *
 * The report is of the volume's current epoch on the node that holds it, so it is never from an engine that was fenced off. It may be
 * a little older than recorded changes; the rules below hold for that too.
 */
import type { EngineReport, RebuildReport } from '../model/agent-protocol.js';
import type { Change, RebuildPatch, ReplicaPatch } from '../model/changes.js';
import { type CopyRecord, compareRecords, isSetBack, type RecordNumber } from '../model/copy-record.js';
import { rebuildEvent } from '../model/event.js';
import type { EventType } from '../model/event-types.js';
import type { FaultCode } from '../model/faults.js';
import { NOT_WAITING, type Rebuild } from '../model/rebuild.js';
import { REBUILD_RETRIES_MAX, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { activeRebuild, nodeName, volumeEvent } from '../model/volume-facts.js';
import { lostPlace } from './status-cause.js';
import type { Step } from './step.js';

export function planObservation(view: VolumeView, now: Date): Step | undefined {
  const { volume, engine } = view;
  if (volume.lifecycle.state !== 'attached' || engine === undefined || engine.report.epoch !== volume.epoch) {
    return undefined;
  }
  const changes = [
    ...recordChanges(view, engine.report),
    ...view.replicas.flatMap((replica) => replicaChanges(view, replica, engine.report, now)),
    ...rebuildChanges(view, engine.report, now),
  ];
  return changes.length === 0 ? undefined : { kind: 'commit', why: 'the engine reported changes', changes };
}

function recordChanges({ volume }: VolumeView, { record }: EngineReport): Change[] {
  if (volume.record !== undefined && !isNews(record, volume.record)) return [];
  // Members that stored it are current: they restore what a restored database had forgotten.
  return [{ kind: 'volume.patch', volumeId: volume.id, patch: { record, restoredAt: undefined } }];
}

/** Also that a record which the database had to hold first is on all its members by now. */
function isNews(reported: CopyRecord, known: CopyRecord): boolean {
  const order = compareRecords(reported, known);
  if (order !== 0) return order > 0;
  return isSetBack(known.durable ?? NEVER, reported.durable);
}

const NEVER: RecordNumber = { epoch: -1, dataGeneration: 0 };

function replicaChanges(view: VolumeView, replica: Replica, report: EngineReport, now: Date): Change[] {
  const reported = report.replicas.find(({ replicaId }) => replicaId === replica.id);
  switch (reported?.mode) {
    case 'RW':
      return becameHealthy(view, replica, now);
    case 'WO':
      return ofTarget(view, replica, 'WO');
    case 'ERR': {
      const failure = { reason: 'EngineDropped', message: reported.reason };
      return [...ofTarget(view, replica, 'ERR'), ...dropped(view, replica, failure, now)];
    }
    default: {
      // Before its start has ended an engine lists none; such a report may arrive after the start was recorded.
      if (report.replicas.length === 0) return [];
      const wasUsed = replica.mode === 'RW' || replica.mode === 'WO';
      const failure = { reason: 'NotInEngine', message: 'the engine does not use this replica' };
      return wasUsed ? dropped(view, replica, failure, now) : [];
    }
  }
}

/** How the engine uses the target of a rebuild: until that begins it may list it as the failed copy that it was. */
function ofTarget(view: VolumeView, replica: Replica, mode: 'WO' | 'ERR'): Change[] {
  return isRebuildTarget(view, replica) && replica.mode !== mode ? patched(replica, { mode }) : [];
}

/** A replica that is to be dropped, or that was given up in this epoch, is not taken back for an older report. */
function becameHealthy(view: VolumeView, replica: Replica, now: Date): Change[] {
  const isKnown = replica.mode === 'RW' && replica.healthyAt !== undefined && replica.failedAt === undefined;
  if (isKnown || replica.intent === 'remove' || isGivenUpSince(replica, view.engine)) return [];
  const patch: ReplicaPatch = {
    mode: 'RW',
    healthyAt: now,
    lastHealthyAt: now,
    failedAt: undefined,
    failure: undefined,
    rebuildRetryCount: 0,
  };
  const message = `the replica on ${nodeName(view.fleet, replica.nodeId)} is a full copy`;
  return [...patched(replica, patch), replicaEvent(view, replica, now, 'ReplicaHealthy', message)];
}

/** Was it dropped after the engine was last heard? The target of a rebuild has been taken back, and is not. */
function isGivenUpSince({ mode, failedAt }: Replica, engine: VolumeView['engine']): boolean {
  return mode === 'ERR' && failedAt !== undefined && engine !== undefined && engine.at <= failedAt;
}

/**
 * The target of a rebuild may still be listed as ERR from the failure that made it one; its rebuild's own report shows a new failure.
 */
function dropped(
  view: VolumeView,
  replica: Replica,
  failure: { reason: string; message: string },
  now: Date,
): Change[] {
  if (replica.failedAt !== undefined || isRebuildTarget(view, replica)) return [];
  // Never in use in this epoch: the entry is from before the replica was chosen again.
  if (replica.mode === undefined && replica.healthyAt === undefined) return [];
  const patch: ReplicaPatch = { mode: 'ERR', failedAt: now, lastFailedAt: now, failure };
  const message = `the replica on ${nodeName(view.fleet, replica.nodeId)} failed: ${failure.message}`;
  return [...patched(replica, patch), replicaFailed(view, replica, message, now)];
}

function replicaFailed(view: VolumeView, replica: Replica, message: string, now: Date): Change {
  const news = {
    type: 'ReplicaFailed',
    message,
    subject: { kind: 'replica', id: replica.id },
    cause: lostPlace(view, [replica]),
  } as const;
  return { kind: 'event', event: volumeEvent(view, now, news) };
}

function isRebuildTarget(view: VolumeView, replica: Replica): boolean {
  return activeRebuild(view)?.targetReplicaId === replica.id;
}

function rebuildChanges(view: VolumeView, report: EngineReport, now: Date): Change[] {
  const rebuild = activeRebuild(view);
  if (rebuild === undefined || rebuild.state !== 'running') return [];
  const target = view.replicas.find(({ id }) => id === rebuild.targetReplicaId);
  const targetMode = report.replicas.find(({ replicaId }) => replicaId === rebuild.targetReplicaId)?.mode;
  const reported = report.rebuilds.find(({ rebuildId }) => rebuildId === rebuild.id);

  if (reported?.state === 'failed') {
    const error = reported.error ?? { code: 'engine.rebuild_failed', message: 'the engine gave no reason' };
    return rebuildFailed(view, { rebuild, target, error, triesSpent: triesSpentBy(error.code) }, now);
  }
  // While the engine says that it runs, it holds its place, even if its target is full already.
  if (reported?.state === 'running') return [];
  // RW proves success when the report of the rebuild itself is gone already. The target of a successful one may have failed again
  // since: that is a failure of the replica, seen once its rebuild has ended.
  if (targetMode === 'RW' || reported?.state === 'succeeded')
    return rebuildSucceeded(view, rebuild, reported, now);
  return [];
}

function rebuildSucceeded(
  view: VolumeView,
  rebuild: Rebuild,
  reported: RebuildReport | undefined,
  now: Date,
): Change[] {
  const patch: RebuildPatch = {
    ...(reported === undefined ? {} : finalBytes(reported)),
    state: 'succeeded',
    phase: 'done',
    percent: 100,
    rateBytesPerSecond: 0,
    finishedAt: now,
    ...NOT_WAITING,
  };
  const message = `the replica on ${nodeName(view.fleet, rebuild.targetNodeId)} was rebuilt`;
  return [
    { kind: 'rebuild.patch', rebuildId: rebuild.id, ifState: 'running', patch },
    { kind: 'event', event: rebuildEvent(rebuild, { type: 'RebuildSucceeded', message }, now) },
  ];
}

export type RebuildFailure = {
  rebuild: Rebuild;
  target: Replica | undefined;
  error: { code: string; message: string };
  /** Retries charged to the target replica; 0 if the engine or its node failed. */
  triesSpent: number;
  /** It was called off, by a user's detach or another attachment; its target is unfinished no less. Left out: it has failed. */
  isCalledOff?: boolean;
};

/** A copy that says that it can't be read says so again: it is given up at once, and another is built. */
const FINAL_CODES: ReadonlySet<string> = new Set<FaultCode>(['replica.corrupt', 'replica.format_unknown']);

function triesSpentBy(code: string): number {
  return FINAL_CODES.has(code) ? REBUILD_RETRIES_MAX : 1;
}

/** Ends an active rebuild and gives its target up until it is chosen again. */
export function rebuildFailed(
  view: VolumeView,
  { rebuild, target, error, triesSpent, isCalledOff = false }: RebuildFailure,
  now: Date,
): Change[] {
  const patch: RebuildPatch = {
    state: isCalledOff ? 'cancelled' : 'failed',
    error,
    finishedAt: now,
    rateBytesPerSecond: 0,
    ...NOT_WAITING,
  };
  const type = isCalledOff ? 'RebuildCancelled' : 'RebuildFailed';
  const what = isCalledOff ? 'was called off' : 'failed';
  const message = `the rebuild on ${nodeName(view.fleet, rebuild.targetNodeId)} ${what}: ${error.message}`;
  const ended: Change[] = [
    { kind: 'rebuild.patch', rebuildId: rebuild.id, ifState: rebuild.state, patch },
    { kind: 'event', event: rebuildEvent(rebuild, { type, message }, now) },
  ];
  if (target === undefined) return ended;
  const failure = { reason: type, message: error.message };
  const rebuildRetryCount = Math.min(REBUILD_RETRIES_MAX, target.rebuildRetryCount + triesSpent);
  return [
    ...ended,
    ...patched(target, { mode: 'ERR', failedAt: now, lastFailedAt: now, failure, rebuildRetryCount }),
  ];
}

function finalBytes({ bytes, snapshots }: RebuildReport): RebuildPatch {
  return { bytes, snapshots };
}

function patched(replica: Replica, patch: ReplicaPatch): Change[] {
  return [{ kind: 'replica.patch', replicaId: replica.id, patch }];
}

function replicaEvent(
  view: VolumeView,
  replica: Replica,
  now: Date,
  type: EventType,
  message: string,
): Change {
  const subject = { kind: 'replica' as const, id: replica.id };
  return { kind: 'event', event: volumeEvent(view, now, { type, message, subject }) };
}
