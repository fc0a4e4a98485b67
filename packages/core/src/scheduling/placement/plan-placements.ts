import type { SpaceBooking } from '../../model/changes.js';
import { Bug } from '../../model/faults.js';
import type { NodeId } from '../../model/ids.js';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import { bookingOn } from '../../policy/space-booking.js';
import type { CandidateRefusal } from '../framework/framework.js';
import { type PlaceableVolume, placementRequest } from '../framework/placement-request.js';
import { assertFleetConsistent } from './fleet-consistency.js';
import { placeReplica } from './place-replica.js';

/** A place found for one replica, with the claim that books it. */
export type PlannedPlacement = { readonly nodeId: NodeId; readonly booking: SpaceBooking };

export type PlacementPlan = {
  /** One per replica that found a place. */
  readonly placements: readonly PlannedPlacement[];
  /** Why the next replica found none; `undefined` when all did. */
  readonly refusals: readonly CandidateRefusal[] | undefined;
};

/**
 * Finds places for `unplaced` in their order. Each sees what was booked for those before it, so that the plan as a
 * whole fits; the database still checks every booking.
 *
 * Stops at the first that fits nowhere: the ones after it ask the same question of the same fleet.
 *
 * @throws StorageFault `fleet.inconsistent`
 */
export function planPlacements(
  volume: PlaceableVolume,
  placedReplicas: readonly Replica[],
  unplaced: readonly Replica[],
  fleet: FleetView,
  now: Date,
): PlacementPlan {
  assertFleetConsistent(fleet, placedReplicas);
  const placements: PlannedPlacement[] = [];
  const replicas = [...placedReplicas];
  let current = fleet;
  for (const replica of unplaced) {
    const placement = placeReplica(placementRequest(volume, replicas, current), current, now);
    if (placement.kind === 'refused') return { placements, refusals: placement.refusals };
    const { nodeId, diskId } = placement;
    placements.push({ nodeId, booking: bookingFor(diskId, replica.sizeBytes, fleet) });
    replicas.push({ ...replica, nodeId, diskId });
    current = withBooking(current, diskId, replica.sizeBytes);
  }
  return { placements, refusals: undefined };
}

export function bookingFor(
  diskId: SpaceBooking['diskId'],
  sizeBytes: number,
  fleet: FleetView,
): SpaceBooking {
  const disk = fleet.disks.find(({ id }) => id === diskId);
  if (disk === undefined) throw new Bug(`the plan chose disk ${diskId}, which the fleet does not have`);
  return bookingOn(disk, sizeBytes, fleet);
}

/** The fleet as it will be once a replica has been booked on a disk. */
export function withBooking(fleet: FleetView, diskId: SpaceBooking['diskId'], sizeBytes: number): FleetView {
  const disks = fleet.disks.map((disk) =>
    disk.id === diskId ? { ...disk, storageScheduledBytes: disk.storageScheduledBytes + sizeBytes } : disk,
  );
  return { ...fleet, disks };
}
