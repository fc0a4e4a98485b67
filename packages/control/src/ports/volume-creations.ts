import type { CreationRequest, NewVolume } from '@holdfast/core/lifecycle/decide-creation.js';

/**
 * Stores new volumes together with the bookings of their replicas.
 *
 * A request is decided by core (`decideCreation`) over the fleet as it is, and again when a booking did not hold any
 * more. Many decisions may share one view of the fleet and one transaction.
 *
 * @throws StorageFault `request.invalid`, `cluster.not_found`, `volume.name_taken`, `snapshot.in_use` when what
 *   it is to be filled from is not there any more, `store.conflict`, `store.unavailable`
 */
export interface VolumeCreations {
  create(request: CreationRequest): Promise<NewVolume>;
}
