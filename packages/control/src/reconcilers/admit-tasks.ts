import { planTaskQueue } from '@holdfast/core/lifecycle/plan-task-queue.js';
import { isFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { Change } from '../ports/store.js';
import type { ReconcilerPorts } from './reconciler-ports.js';

/** Volumes looked at in one run; the next run, at most a sweep later, sees those behind them. */
const CANDIDATES_MAX = 100;
/** Another worker that admits rebuilds at the same moment commits under the same version; a few tries get past that. */
const ATTEMPTS_MAX = 5;

/**
 * Admits background tasks of a cluster (purges, fillings, hashing), as many as the limit allows. Of two workers that
 * admit at once one fails its commit and reads again, so that the limit is not passed.
 */
export async function admitTasks(ports: ReconcilerPorts, clusterId: ClusterId): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const admittedAt = ports.clock.now();
    const view = await ports.store.loadTaskQueue(clusterId, { now: admittedAt, limit: CANDIDATES_MAX });
    const changes = planTaskQueue(view, admittedAt).map((admission): Change => {
      const { volumeId } = admission;
      if (admission.kind === 'layers') return { kind: 'volume.admit', volumeId, admittedAt };
      const patch = { hashing: { admittedAt, isPass: admission.isPass } };
      return { kind: 'volume.patch', volumeId, patch };
    });
    if (changes.length === 0) return;
    try {
      // The outbox of this commit wakes the volumes.
      await ports.store.commit({ kind: 'rebuild-queue', clusterId, ifVersion: view.version }, changes);
      return;
    } catch (error) {
      if (!isFault(error, 'store.conflict')) throw error;
    }
  }
}
