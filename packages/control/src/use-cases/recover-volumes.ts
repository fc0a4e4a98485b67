import { planRecovery } from '@holdfast/core/lifecycle/plan-recovery.js';
import { recoveryChanges } from '@holdfast/core/lifecycle/recovered-volume.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { OrphanInContext } from '@holdfast/core/model/orphan.js';
import type {
  RecoveryChoice,
  RecoveryPlace,
  RecoveryPlan,
  RecoveryView,
} from '@holdfast/core/model/recovery.js';
import type { CommitGuard } from '../ports/store.js';
import { retryConflicts, type UseCasePorts } from './use-case.js';

type PlanInput = {
  place: RecoveryPlace;
  choice: RecoveryChoice;
  /** The last volume of the page before; `undefined`: the first page. */
  after: VolumeId | undefined;
  /** Volumes at most. */
  limit: number;
};

/** Volumes that could be recovered from the cluster's orphans, in the order of their ids. Changes nothing. */
export async function planRecoveries(
  { store }: UseCasePorts,
  { place, choice, after, limit }: PlanInput,
): Promise<RecoveryPlan[]> {
  const found = await store.loadFoundCopies(place.clusterId, { after, limit });
  const fleet = await store.loadFleet(place.clusterId);
  const plans: RecoveryPlan[] = [];
  for (const [volumeId, copies] of byVolume(found)) {
    const known = await store.loadVolume(volumeId);
    plans.push(planRecovery({ volumeId, copies, known, fleet, place, choice }));
  }
  return plans;
}

/**
 * Makes one volume again from orphans, or adds missing members to a restored one: all in one commit, or nothing. Repeated, it adds
 * copies that were found since, and otherwise changes nothing.
 *
 * @throws StorageFault `recovery.not_found` if no orphan names the volume, `recovery.refused` with the reason and cure,
 * `volume.name_taken`, `quota.exceeded`, `request.invalid`
 */
export function recoverVolume(
  { store, clock }: UseCasePorts,
  input: { place: RecoveryPlace; volumeId: VolumeId; choice: RecoveryChoice },
): Promise<void> {
  const { place, volumeId, choice } = input;
  return retryConflicts(async () => {
    const copies = await store.loadFoundCopies(place.clusterId, { volumeId });
    const known = await store.loadVolume(volumeId);
    if (copies.length === 0) {
      // Its copies are replicas by now: another call has recovered it.
      if (known !== undefined) return;
      throw new StorageFault('recovery.not_found', {
        publicMessage: `no copy that was found says that it is of a volume ${volumeId}`,
        cures: ['holdfast recover'],
      });
    }
    const fleet = await store.loadFleet(place.clusterId);
    const view: RecoveryView = { volumeId, copies, known, fleet, place, choice };
    const plan = planRecovery(view);
    if (plan.obstacle?.code === 'NotNeeded') return;
    if (plan.obstacle !== undefined) throw refused(plan, plan.obstacle);
    const guard: CommitGuard =
      known === undefined ? { kind: 'new' } : { kind: 'volume', volumeId, ifVersion: known.volume.version };
    await store.commit(guard, recoveryChanges(view, plan, clock.now()));
  });
}

function byVolume(found: readonly OrphanInContext[]): Map<VolumeId, OrphanInContext[]> {
  const volumes = new Map<VolumeId, OrphanInContext[]>();
  for (const copy of found) {
    const { volumeId } = copy.orphan;
    volumes.set(volumeId, [...(volumes.get(volumeId) ?? []), copy]);
  }
  return volumes;
}

function refused(
  { name }: RecoveryPlan,
  { why, cures }: NonNullable<RecoveryPlan['obstacle']>,
): StorageFault {
  const publicMessage = `volume ${name} is not recovered: ${why}`;
  return new StorageFault('recovery.refused', { publicMessage, cures: [...cures] });
}
