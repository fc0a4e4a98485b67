import type { VolumeView } from '@holdfast/core/lifecycle/views.js';
import { AN_OWNER, aVolume } from './builders.js';
import { aFleet } from './fleet-builder.js';

/** What a reconciler reads of a volume without replicas, snapshots and rebuilds, whose engine is in no report. */
export function aVolumeView(part: Partial<VolumeView> = {}): VolumeView {
  return {
    volume: aVolume(AN_OWNER),
    replicas: [],
    snapshots: [],
    rebuilds: [],
    clones: [],
    fleet: aFleet({}),
    engine: undefined,
    ...part,
  };
}
