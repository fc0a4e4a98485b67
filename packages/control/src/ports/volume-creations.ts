import type { SpaceBooking } from '@holdfast/core/model/changes.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import type { StoredExplanation } from '@holdfast/core/model/stored-explanation.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import type { PlaceableVolume, PlacementPlan } from '@holdfast/core/scheduling/plan-placements.js';

/** A cluster as the decision about a new volume sees it. Several decisions may follow one another on one of these. */
export interface PlacementFleet {
  readonly settings: ClusterSettings;
  /** Finds places for the replicas of a volume that has none yet. Decisions after this one see them as taken. */
  place(volume: PlaceableVolume, replicas: readonly Replica[], now: Date): PlacementPlan;
  /** Why one more replica beside these would find no place. */
  explain(volume: PlaceableVolume, placed: readonly Replica[], now: Date): StoredExplanation;
  zoneOf(nodeId: NodeId): string | undefined;
}

export type NewReplica = {
  readonly replica: Replica;
  readonly zone: string | undefined;
  /** `undefined` for one that found no place. */
  readonly booking: SpaceBooking | undefined;
};

/** A decided volume: what is to be stored in one piece or not at all. */
export type NewVolume = {
  readonly volume: Volume;
  readonly replicas: readonly NewReplica[];
  readonly event: ClusterEvent;
};

/** @param isLast others took the places each time: decide without any */
export type DecideVolume = (fleet: PlacementFleet, isLast: boolean) => NewVolume;

/**
 * Stores new volumes together with the bookings of their replicas.
 *
 * `decide` is called with the fleet as it is, and again when a booking did not hold any more. It runs to its end
 * without waiting, so that an implementation may let many decisions share one view of the fleet and one transaction.
 *
 * @throws StorageFault what `decide` throws, `cluster.not_found`, `volume.name_taken`, `snapshot.in_use` when what
 *   it is to be filled from is not there any more, `store.conflict`,
 *   `store.unavailable`
 */
export interface VolumeCreations {
  create(clusterId: ClusterId, decide: DecideVolume): Promise<NewVolume>;
}
