/**
 * Frame of every use case: it reads, decides with core, and commits intent under a guard. It never calls an agent and never waits;
 * the reconcilers carry the intent out. If the process dies before the commit nothing happened; after it, the outbox row of the same
 * transaction wakes the reconciler.
 */
import { type FaultItem, isFault, StorageFault } from '@holdfast/core/model/faults.js';
import type { RebuildId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { isDeleting } from '@holdfast/core/model/volume-lifecycle.js';
import { decideChange } from '@holdfast/core/policy/decide-change.js';
import { decideEviction, EVICTION_NEEDS } from '@holdfast/core/policy/decide-eviction.js';
import type { Decision, Refusal } from '@holdfast/core/policy/decision.js';
import type { Clock, Random } from '../ports/clock.js';
import type { Store, VolumeView } from '../ports/store.js';

export type UseCasePorts = { store: Store; clock: Clock; random: Random };

/** A change that loses this often races with more writers than one resource ever has; the caller must retry. */
const ATTEMPTS_MAX = 8;

/**
 * Runs a load-decide-commit function again when another request or worker committed in between. The last attempt knows that it is the
 * last, so that it can do without what others keep taking.
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

/** @throws StorageFault `volume.not_found`, `rebuild.not_found`, `request.stale` */
export async function loadRebuild(
  store: Store,
  {
    volumeId,
    rebuildId,
    ifVersion,
  }: { volumeId: VolumeId; rebuildId: RebuildId; ifVersion?: number | undefined },
): Promise<{ volume: Volume; rebuild: Rebuild }> {
  const { volume, rebuilds } = await loadVolume(store, volumeId, undefined);
  const rebuild = rebuilds.find(({ id }) => id === rebuildId);
  if (rebuild === undefined) {
    throw new StorageFault('rebuild.not_found', { publicMessage: `there is no rebuild ${rebuildId}` });
  }
  assertVersion(rebuild.version, ifVersion);
  return { volume, rebuild };
}

/** Fields of a change that differ from the present state. */
export function changedPart<Whole extends object, Part extends Partial<Whole>>(
  before: Whole,
  wanted: Part,
): Partial<Part> {
  const known: ReadonlyMap<string, unknown> = new Map(Object.entries(before));
  const changed = Object.entries(wanted).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(known.get(field)),
  );
  // Some of the part's own entries.
  return Object.fromEntries(changed) as Partial<Part>;
}

export function assertVersion(version: number, ifVersion: number | undefined): void {
  if (ifVersion === undefined || ifVersion === version) return;
  throw new StorageFault('request.stale', {
    publicMessage: 'another request has changed it since you read it',
    cures: ['read it again and repeat the change'],
  });
}

/**
 * @returns false where it is so already, and nothing is to be committed
 * @throws StorageFault what the decision refuses with
 */
export function hasToAct(decision: Decision): boolean {
  if (decision.kind !== 'refuse') return decision.kind === 'allow';
  throw faultOf(decision);
}

/** @param errors the wrong parts of the request, where it is the request that is refused */
export function faultOf(
  { code, why, cures, context }: Refusal,
  errors: readonly FaultItem[] = [],
): StorageFault {
  return new StorageFault(code, {
    publicMessage: why,
    ...(cures.length === 0 ? {} : { cures }),
    ...(errors.length === 0 ? {} : { errors }),
    ...(context === undefined ? {} : { context }),
  });
}

/** @throws StorageFault `volume.deleting` */
export function assertNotDeleting(volume: Volume): void {
  hasToAct(decideChange({ name: volume.name, isDeleting: isDeleting(volume) }));
}

/**
 * @param what names the node or disk
 * @throws StorageFault `request.invalid`
 */
export function assertMayEvict(
  what: string,
  wanted: { readonly evictionRequested: boolean; readonly allowScheduling: boolean },
): void {
  const decision = decideEviction(what, wanted);
  if (decision.kind !== 'refuse') return;
  throw faultOf(decision, [{ pointer: '/evictionRequested', detail: EVICTION_NEEDS }]);
}
