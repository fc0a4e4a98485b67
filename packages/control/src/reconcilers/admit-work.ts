import { type Admissions, planAdmissions } from '@holdfast/core/admission/plan-admissions.js';
import { rebuildEvent } from '@holdfast/core/model/event.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { NOT_WAITING, type Rebuild } from '@holdfast/core/model/rebuild.js';
import type { AdmissionView, Change } from '../ports/store.js';
import type { ReconcilerPorts } from './reconciler-ports.js';

/** Volumes with background tasks looked at in one run; the next run, at most a sweep later, sees those behind them. */
const TASKS_MAX = 100;
/** A conflict means that another worker admits at the same moment; a few tries get past that. */
const ATTEMPTS_MAX = 5;
/** A commit stays small, so that it locks little; what is left over is done by the next run. */
const CHANGES_MAX = 200;

/**
 * Admits the rebuilds and background tasks of a cluster that the limits allow, and tells the other rebuilds what they wait
 * for. The queue's version guards the commit: of two workers that admit at once, one loses and counts again.
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
    const admitted = view.queued.filter(({ id }) => plan.rebuilds.includes(id));
    for (const { volumeId } of admitted) await ports.queue.wake({ kind: 'volume', volumeId });
    return;
  }
}

/** What begins comes first; words about what waits may be left to the next run. */
function changesOf(
  { rebuilds, grants, waiting, tasks }: Admissions,
  view: AdmissionView,
  now: Date,
): Change[] {
  const started = rebuilds.flatMap((rebuildId): Change[] => {
    const patch = { ...NOT_WAITING, state: 'running' as const, phase: 'preparing' as const, startedAt: now };
    return [
      { kind: 'rebuild.patch', rebuildId, ifState: 'queued', patch },
      ...view.queued.filter(({ id }) => id === rebuildId).map((rebuild) => startedEvent(rebuild, view, now)),
    ];
  });
  const granted = grants.map(({ rebuildId, bytesPerSecond }): Change => {
    return { kind: 'rebuild.patch', rebuildId, patch: { grantedBytesPerSecond: bytesPerSecond } };
  });
  const admitted = tasks.map((task): Change => {
    const { volumeId } = task;
    if (task.kind === 'layers') return { kind: 'volume.admit', volumeId, admittedAt: now };
    const patch = { hashing: { admittedAt: now, isPass: task.isPass } };
    return { kind: 'volume.patch', volumeId, patch };
  });
  const informed = waiting
    .filter(({ rebuildId, reason, waitingFor }) => {
      const known = view.queued.find(({ id }) => id === rebuildId);
      return waitingFor !== known?.waitingFor || reason !== known.waitingReason;
    })
    .map(({ rebuildId, reason, waitingFor }): Change => {
      const patch = { waitingFor, waitingReason: reason };
      return { kind: 'rebuild.patch', rebuildId, ifState: 'queued', patch };
    });
  return [...started, ...granted, ...admitted, ...informed];
}

function startedEvent(rebuild: Rebuild, { nodes }: AdmissionView, now: Date): Change {
  const target = nodes.find(({ id }) => id === rebuild.targetNodeId)?.name ?? rebuild.targetNodeId;
  const message = `the rebuild on ${target} starts`;
  return { kind: 'event', event: rebuildEvent(rebuild, { type: 'RebuildStarted', message }, now) };
}
