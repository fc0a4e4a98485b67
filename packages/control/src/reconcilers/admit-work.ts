import {
  type Admissions,
  type AdmittedRebuild,
  planAdmissions,
} from '@holdfast/core/admission/plan-admissions.js';
import { PREEMPTED } from '@holdfast/core/admission/waiting.js';
import { type ClusterEvent, rebuildEvent } from '@holdfast/core/model/event.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, RebuildId, VolumeId } from '@holdfast/core/model/ids.js';
import { NOT_WAITING, type Rebuild } from '@holdfast/core/model/rebuild.js';
import type { AdmissionView, Change } from '../ports/store.js';
import type { ReconcilerPorts } from './reconciler-ports.js';

/** Volumes with background tasks per run; the next run, at most a sweep later, sees the others. */
const TASKS_MAX = 100;
/** A conflict means that another worker admits at the same moment; a few tries get past that. */
const ATTEMPTS_MAX = 5;
/** A commit stays small, so that it locks little; the next run does the rest. */
const CHANGES_MAX = 200;

/**
 * Admits the rebuilds and background tasks of a cluster that the limits allow, and records what the other rebuilds wait for. The
 * queue's version guards the commit: of two workers that admit at once, one loses and counts again.
 */
export async function admitWork(
  ports: Pick<ReconcilerPorts, 'store' | 'queue' | 'clock'>,
  clusterId: ClusterId,
): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const now = ports.clock.now();
    const view = await ports.store.loadAdmissions(clusterId, { now, limit: TASKS_MAX });
    const plan = planAdmissions(view, now);
    const changes = changesOf(plan, view, now).slice(0, CHANGES_MAX);
    if (changes.length === 0) return;
    try {
      // The outbox of this commit wakes the volumes of admitted tasks.
      await ports.store.commit({ kind: 'admission', clusterId, ifVersion: view.version }, changes);
    } catch (error) {
      if (isFault(error, 'store.conflict')) continue;
      throw error;
    }
    for (const volumeId of touched(plan, view))
      await ports.queue.wake({ kind: 'volume', volumeId, lane: 'safety' });
    return;
  }
}

/** Volumes with a rebuild that begins, continues or is preempted: their engines should learn it soon. */
function touched({ rebuilds, preempted }: Admissions, view: AdmissionView): VolumeId[] {
  const ids = new Set([...rebuilds.map(({ rebuildId }) => rebuildId), ...preempted]);
  return activeOf(view)
    .filter(({ id }) => ids.has(id))
    .map(({ volumeId }) => volumeId);
}

function activeOf({ queued, running }: AdmissionView): Rebuild[] {
  return [...queued, ...running];
}

/** Starts come first; reasons for waiting may be left to the next run. */
function changesOf(
  { rebuilds, preempted, grants, waiting, tasks }: Admissions,
  view: AdmissionView,
  now: Date,
): Change[] {
  const active = new Map(activeOf(view).map((rebuild) => [rebuild.id, rebuild]));
  const started = rebuilds.flatMap((admitted) => begun(admitted, active, view, now));
  const held = preempted.flatMap((rebuildId) => preemptedChanges(active.get(rebuildId), view, now));
  const granted = grants.map(({ rebuildId, bytesPerSecond }): Change => {
    return { kind: 'rebuild.patch', rebuildId, patch: { grantedBytesPerSecond: bytesPerSecond } };
  });
  const admitted = tasks.map((task): Change => {
    const { volumeId } = task;
    if (task.kind === 'layers') return { kind: 'volume.admit', volumeId, admittedAt: now };
    const patch = { hashing: { admittedAt: now, isPass: task.isPass } };
    return { kind: 'volume.patch', volumeId, patch };
  });
  const informed = waiting.flatMap(({ rebuildId, reason, waitingFor }): Change[] => {
    const known = active.get(rebuildId);
    if (known === undefined || (waitingFor === known.waitingFor && reason === known.waitingReason)) return [];
    const patch = { waitingFor, waitingReason: reason };
    return [{ kind: 'rebuild.patch', rebuildId, ifState: known.state, patch }];
  });
  return [...started, ...held, ...granted, ...admitted, ...informed];
}

/** A preempted rebuild continues where it was. */
function begun(
  { rebuildId, purgesFirst }: AdmittedRebuild,
  active: ReadonlyMap<RebuildId, Rebuild>,
  { nodes }: AdmissionView,
  now: Date,
): Change[] {
  const rebuild = active.get(rebuildId);
  if (rebuild === undefined) return [];
  const target = targetName(rebuild, nodes);
  if (rebuild.state === 'running') {
    const patch = { ...NOT_WAITING, preemptedAt: undefined };
    return [
      { kind: 'rebuild.patch', rebuildId, ifState: 'running', patch },
      told(rebuild, { type: 'RebuildResumed', message: `the rebuild on ${target} goes on` }, now),
    ];
  }
  const patch = {
    ...NOT_WAITING,
    state: 'running',
    phase: 'preparing',
    startedAt: now,
    purgesFirst,
  } as const;
  return [
    { kind: 'rebuild.patch', rebuildId, ifState: 'queued', patch },
    told(rebuild, { type: 'RebuildStarted', message: `the rebuild on ${target} starts` }, now),
  ];
}

function preemptedChanges(rebuild: Rebuild | undefined, { nodes }: AdmissionView, now: Date): Change[] {
  if (rebuild === undefined) return [];
  const message = `the rebuild on ${targetName(rebuild, nodes)} stands still: ${PREEMPTED.waitingFor}`;
  const { reason: waitingReason, waitingFor } = PREEMPTED;
  const patch = { preemptedAt: now, waitingFor, waitingReason };
  return [
    { kind: 'rebuild.patch', rebuildId: rebuild.id, ifState: 'running', patch },
    told(rebuild, { type: 'RebuildPreempted', message }, now),
  ];
}

function targetName({ targetNodeId }: Rebuild, nodes: AdmissionView['nodes']): string {
  return nodes.find(({ id }) => id === targetNodeId)?.name ?? targetNodeId;
}

function told(rebuild: Rebuild, news: Pick<ClusterEvent, 'type' | 'message'>, now: Date): Change {
  return { kind: 'event', event: rebuildEvent(rebuild, news, now) };
}
