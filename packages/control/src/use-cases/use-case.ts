/**
 * What every use case shares: it reads, decides with core, and commits intent under a guard. It never calls an agent
 * and never waits; the reconcilers do what was asked for. If the process dies before the commit nothing happened; after
 * it, the outbox row of the same transaction wakes the reconciler.
 */
import { isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { isRepairing, type Volume } from '@holdfast/core/model/volume.js';
import type { Decision } from '@holdfast/core/policy/decision.js';
import type { Clock, Random } from '../ports/clock.js';
import type { Store, VolumeView } from '../ports/store.js';

export type UseCasePorts = { store: Store; clock: Clock; random: Random };

/** A change that loses this often races with more writers than one resource ever has; the caller is told to retry. */
const ATTEMPTS_MAX = 8;

/**
 * Runs a load-decide-commit function again when another request or worker committed in between. The last attempt is told
 * that it is the last, so that it can do without what others keep taking.
 *
 * @throws StorageFault `store.conflict` when it lost every time
 */
export async function retryConflicts<T>(attempt: (isLast: boolean) => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt(count === ATTEMPTS_MAX);
    } catch (error) {
      if (!isFault(error, 'store.conflict') || count >= ATTEMPTS_MAX) throw error;
    }
  }
}

/** @throws StorageFault `volume.not_found`, `request.stale` when the caller's version is not the current one */
export async function loadVolume(
  store: Store,
  volumeId: VolumeId,
  ifVersion: number | undefined,
): Promise<VolumeView> {
  const view = await store.loadVolume(volumeId);
  if (view === undefined) {
    throw new StorageFault('volume.not_found', { publicMessage: `there is no volume ${volumeId}` });
  }
  assertVersion(view.volume.version, ifVersion);
  return view;
}

export function assertVersion(version: number, ifVersion: number | undefined): void {
  if (ifVersion === undefined || ifVersion === version) return;
  throw new StorageFault('request.stale', {
    publicMessage: 'somebody changed it since you read it',
    cures: ['read it again and repeat the change'],
  });
}

/**
 * @returns false where it is so already, and nothing is to be committed
 * @throws StorageFault what the decision refuses with
 */
export function hasToAct(decision: Decision): boolean {
  if (decision.kind !== 'refuse') return decision.kind === 'allow';
  const { code, why, cures, context } = decision;
  throw new StorageFault(code, {
    publicMessage: why,
    ...(cures.length === 0 ? {} : { cures }),
    ...(context === undefined ? {} : { context }),
  });
}

/** @throws StorageFault `volume.deleting` */
export function assertNotDeleting(volume: Volume): void {
  if (volume.deletionRequestedAt === undefined) return;
  throw new StorageFault('volume.deleting', { publicMessage: `volume ${volume.name} is being deleted` });
}

/** @throws StorageFault `volume.not_attached`: what changes layers is done by the engine, on all copies at once */
export function assertAttached(volume: Volume): void {
  assertFilled(volume);
  const { name } = volume;
  const state = isRepairing(volume) ? 'detached' : volume.state;
  if (state === 'attached') return;
  throw new StorageFault('volume.not_attached', {
    publicMessage: `volume ${name} is ${state}; only an attached volume's snapshots can be changed`,
    cures: ['attach it first'],
  });
}

/** @throws StorageFault `volume.busy` while it is being filled from what it was cloned from */
export function assertFilled({ name, fill }: Volume): void {
  if (fill === undefined) return;
  throw new StorageFault('volume.busy', {
    publicMessage: `volume ${name} is still being filled from the snapshot it was cloned from`,
    cures: ['wait until it is detached', 'delete it'],
  });
}
