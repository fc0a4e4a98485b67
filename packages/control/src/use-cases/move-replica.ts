import { decideMove, type MoveWish } from '@holdfast/core/balance/plan-move.js';
import { relocationOf } from '@holdfast/core/balance/planned-move.js';
import { replicaAdded } from '@holdfast/core/lifecycle/conclude-replica.js';
import { attachedForRebuild } from '@holdfast/core/lifecycle/plan-offline-rebuild.js';
import { asId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import { bookingFor } from '@holdfast/core/scheduling/placement/plan-placements.js';
import { assertOwnCluster } from './own-cluster.js';
import { faultOf, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Moves a copy to another disk; a detached volume is attached for that, without an address. Its replacement is booked at once, so
 * that a promised place is kept; the reconciler fills it, and only then removes the old copy.
 *
 * @throws StorageFault `replica.not_found`, `replica.not_full`, `replica.place_taken`, `replica.no_place`, `node.not_found`,
 * `disk.not_found`, `volume.strict_local`, `volume.busy`
 */
export function moveReplica(
  ports: UseCasePorts,
  input: MoveWish & { volumeId: VolumeId; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    assertOwnCluster(view.volume);
    const now = ports.clock.now();
    const decision = decideMove(view, input, now);
    if (decision.kind === 'refuse') throw faultOf(decision);
    if (decision.kind === 'unchanged') return;
    const { volume, fleet } = view;
    const { to } = decision.move;
    const added = {
      nodeId: to.nodeId,
      booking: bookingFor(to.diskId, volume.spec.sizeBytes, fleet),
      relocation: relocationOf(decision.move, view, now),
    };
    const attachment = decision.attaches
      ? attachedForRebuild(view, `a copy of volume ${volume.name} is moved while it is detached`, now)
      : [];
    const made = { id: asId<ReplicaId>(ports.random.id()), secret: ports.random.secret() };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      ...replicaAdded(view, added, made, now),
      ...attachment,
    ]);
  });
}
