import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { FleetView } from '@holdfast/core/model/views.js';
import { explainPlacement } from '@holdfast/core/scheduling/explanation/explain-placement.js';
import { planPlacements, withBooking } from '@holdfast/core/scheduling/plan-placements.js';
import type { Change, Store } from '../ports/store.js';
import type { DecideVolume, NewVolume, PlacementFleet, VolumeCreations } from '../ports/volume-creations.js';
import { retryConflicts } from '../use-cases/use-case.js';

/** Creations without a batcher: each reads the whole fleet and has a commit of its own. */
export class StoreCreations implements VolumeCreations {
  constructor(private readonly store: Store) {}

  create(clusterId: ClusterId, decide: DecideVolume): Promise<NewVolume> {
    return retryConflicts(async (isLast) => {
      const created = decide(fleetOf(await this.store.loadFleet(clusterId)), isLast);
      await this.store.commit({ kind: 'new' }, changesFor(created));
      return created;
    });
  }
}

function fleetOf(view: FleetView): PlacementFleet {
  return {
    settings: view.settings,
    place: (volume, replicas, now) => planPlacements(volume, [], replicas, view, now),
    explain: (volume, placed, now) =>
      explainPlacement({ volume, replicas: placed, fleet: withBookings(view, placed), now }),
    zoneOf: (nodeId) => view.nodes.find(({ id }) => id === nodeId)?.zone,
  };
}

function withBookings(view: FleetView, placed: readonly Replica[]): FleetView {
  return placed.reduce(
    (fleet, { diskId, sizeBytes }) => (diskId === undefined ? fleet : withBooking(fleet, diskId, sizeBytes)),
    view,
  );
}

function changesFor({ volume, replicas, event }: NewVolume): Change[] {
  return [
    { kind: 'volume.create', volume },
    ...replicas.map(({ replica, booking }): Change => ({ kind: 'replica.create', replica, booking })),
    { kind: 'event', event },
  ];
}
