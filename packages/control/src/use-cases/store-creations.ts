import {
  type CreationRequest,
  decideCreation,
  type NewVolume,
} from '@holdfast/core/lifecycle/decide-creation.js';
import { FleetCache } from '@holdfast/core/scheduling/index/fleet-cache.js';
import type { Change, Store } from '../ports/store.js';
import type { VolumeCreations } from '../ports/volume-creations.js';
import { retryConflicts } from './use-case.js';

/** Creations without a batcher: each reads the whole fleet and has a commit of its own. */
export class StoreCreations implements VolumeCreations {
  constructor(private readonly store: Store) {}

  create(request: CreationRequest): Promise<NewVolume> {
    return retryConflicts(async (isLast) => {
      const fleet = FleetCache.of(await this.store.loadFleet(request.clusterId));
      const created = decideCreation(request, fleet, { takesPlaces: !isLast });
      await this.store.commit({ kind: 'new' }, changesFor(created));
      return created;
    });
  }
}

function changesFor({ volume, replicas, event }: NewVolume): Change[] {
  return [
    { kind: 'volume.create', volume },
    ...replicas.map(({ replica, booking }): Change => ({ kind: 'replica.create', replica, booking })),
    { kind: 'event', event },
  ];
}
