import type { Change } from '@holdfast/control/ports/store.js';
import type { GrowthEvent, PlacementEvent } from '@holdfast/core/checks/placement-invariants.js';
import type { SpaceBooking } from '@holdfast/core/model/changes.js';
import type { NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { RelocationReason } from '@holdfast/core/model/relocation.js';
import type { FleetView } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import type { Tables } from './tables.js';

/** Inputs of `checkPlacement` except the time, which the store does not know. */
export type ObservedPlacement = Omit<PlacementEvent, 'now' | 'volume'> & {
  readonly volume: Volume;
  /** Why the copy moves; `undefined`: it does not move. */
  readonly reason: RelocationReason | undefined;
};

type Placing = {
  readonly replicaId: ReplicaId;
  readonly volumeId: VolumeId | undefined;
  readonly nodeId: NodeId;
  readonly booking: SpaceBooking | undefined;
};

/**
 * The placement that a change is, seen just before it is applied; `undefined` for any other change.
 *
 * @param fleet as the transaction has made it so far
 */
export function observedPlacement(
  tables: Tables,
  change: Change,
  fleet: () => FleetView,
): ObservedPlacement | undefined {
  const placing = placingOf(tables, change);
  const volume = placing?.volumeId === undefined ? undefined : tables.volumes.get(placing.volumeId);
  if (placing === undefined || volume === undefined) return undefined;
  const { replicaId, nodeId, booking } = placing;
  const others = tables.replicas.by('volume', volume.id).filter(({ id }) => id !== replicaId);
  const relocation = change.kind === 'replica.create' ? change.replica.relocation : undefined;
  const { replacesId, reason } = relocation ?? {};
  return { fleet: fleet(), volume, others, replacesId, reason, nodeId, booking };
}

/** The growth of a replica that a change books, seen just before it is applied; `undefined` for any other change. */
export function observedGrowth(
  tables: Tables,
  change: Change,
  fleetOf: (volume: Volume) => FleetView,
): GrowthEvent | undefined {
  if (change.kind !== 'replica.resize' || change.booking === undefined) return undefined;
  const { replicaId, sizeBytes, booking } = change;
  const replica = tables.replicas.get(replicaId);
  const volume = replica === undefined ? undefined : tables.volumes.get(replica.volumeId);
  return volume === undefined ? undefined : { fleet: fleetOf(volume), volume, sizeBytes, booking };
}

function placingOf(tables: Tables, change: Change): Placing | undefined {
  if (change.kind === 'replica.place') {
    const { replicaId, nodeId, booking } = change;
    return { replicaId, volumeId: tables.replicas.get(replicaId)?.volumeId, nodeId, booking };
  }
  if (change.kind !== 'replica.create' || change.replica.nodeId === undefined) return undefined;
  const { id, volumeId, nodeId } = change.replica;
  return { replicaId: id, volumeId, nodeId, booking: change.booking };
}
